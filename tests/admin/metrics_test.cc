#include "admin/metrics.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "admin/exposition.h"
#include "tests/admin/asking.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::admin;

namespace {

struct Sample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
  std::string value;
};

// Strict where the format is: anything else is a failure.
Sample parsed(const std::string& line) {
  Sample sample;
  std::size_t at = line.find_first_of("{ ");
  REQUIRE(at != std::string::npos);
  sample.name = line.substr(0, at);
  if (line[at] == '{') {
    while (line[at] != '}') {
      const std::size_t equals = line.find('=', ++at);
      REQUIRE(equals != std::string::npos);
      REQUIRE(line[equals + 1] == '"');
      std::string value;
      std::size_t i = equals + 2;
      for (; line.at(i) != '"'; ++i) {
        if (line[i] == '\\') ++i;
        value += line.at(i);
      }
      sample.labels.emplace_back(line.substr(at, equals - at), value);
      at = i + 1;
      REQUIRE((line.at(at) == ',' || line.at(at) == '}'));
    }
    ++at;
  }
  REQUIRE(line.at(at) == ' ');
  sample.value = line.substr(at + 1);
  REQUIRE(sample.value.find_first_not_of("0123456789.") == std::string::npos);
  return sample;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The samples by what stands before their value.
std::map<std::string, std::string> samples_of(const std::string& text) {
  std::map<std::string, std::string> samples;
  for (const std::string& line : lines_of(text)) {
    if (line[0] == '#') continue;
    const std::size_t space = line.rfind(' ');
    const bool fresh = samples.emplace(line.substr(0, space), line.substr(space + 1)).second;
    CHECK_MESSAGE(fresh, line);
  }
  return samples;
}

std::string text_of(const Snapshot& snapshot) {
  Status status;
  status.version = "1.2.3";
  status.config_generation = 4;
  status.reloads = 3;
  status.reloads_refused = 2;
  return metrics(snapshot, status, {1024, 5'000'000});
}

Snapshot troubled() {
  Snapshot snapshot = made_snapshot();
  auto& backend = snapshot.pools[0].backends[0];
  backend.active = 3;
  backend.circuit.phase = core::CircuitPhase::open;
  backend.circuit.rejects = 6;
  backend.circuit.transitions = {1, 2, 3};
  backend.dials[static_cast<std::size_t>(core::DialOutcome::refused)] = 9;
  backend.health.emplace();
  backend.health->state = core::HealthState::unhealthy;
  backend.health->checks[static_cast<std::size_t>(core::DialOutcome::timeout)] = 4;
  // Those of backends that are gone are in the pool's totals too.
  auto& pool = snapshot.pools[0];
  pool.totals.dials[static_cast<std::size_t>(core::DialOutcome::refused)] = 12;
  pool.totals.transitions = {1, 5, 3};
  pool.totals.checks[static_cast<std::size_t>(core::DialOutcome::timeout)] = 6;
  pool.dial_times.counts = {7, 2};
  pool.dial_times.counts.back() = 1;
  pool.dial_times.microseconds = 61'250'000;
  return snapshot;
}

template <typename Word>
void add_words(std::set<std::string>& words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) words.emplace(name(static_cast<Word>(i)));
}

}  // namespace

TEST_CASE("every number of a snapshot is in its metric") {
  const auto shown = samples_of(text_of(troubled()));
  const std::map<std::string, std::string> expected = {
      {R"(weir_listener_connections{listener="orders"})", "2"},
      {R"(weir_listener_accepted_total{listener="orders"})", "18446744073709551615"},
      {R"(weir_listener_accept_errors_total{listener="orders",reason="fd_limit"})", "1"},
      {R"(weir_sessions_closed_total{listener="orders",reason="client_closed"})", "5"},
      {R"(weir_sessions_closed_total{listener="orders",reason="killed"})", "0"},
      {R"(weir_bytes_total{listener="orders",direction="in"})", "11"},
      {R"(weir_bytes_total{listener="orders",direction="out"})", "12"},
      {R"(weir_pool_active_requests{pool="orders"})", "4"},
      {R"(weir_pool_pending_requests{pool="orders"})", "3"},
      {R"(weir_pool_admission_rejected_total{pool="orders",reason="proxy_overloaded"})", "2"},
      {R"(weir_pool_admission_rejected_total{pool="cache",reason="shutdown"})", "0"},
      {R"(weir_pool_backends_eligible{pool="orders"})", "1"},
      {R"(weir_pool_backends_healthy{pool="orders"})", "1"},
      {R"(weir_pool_circuit_state{pool="orders",state="open"})", "1"},
      {R"(weir_pool_circuit_state{pool="orders",state="closed"})", "1"},
      {R"(weir_pool_circuit_state{pool="orders",state="half_open"})", "0"},
      {R"(weir_pool_circuit_transitions_total{pool="orders",to="open"})", "5"},
      {R"(weir_backend_circuit_state{pool="orders",backend="pg-a"})", "1"},
      {R"(weir_backend_circuit_state{pool="orders",backend="pg-b"})", "0"},
      {R"(weir_backend_circuit_rejects_total{pool="orders",backend="pg-a"})", "6"},
      {R"(weir_backend_active_requests{pool="orders",backend="pg-a"})", "3"},
      {R"(weir_dials_total{pool="orders",outcome="refused"})", "12"},
      {R"(weir_dial_seconds_bucket{pool="orders",le="0.0005"})", "7"},
      {R"(weir_dial_seconds_bucket{pool="orders",le="0.001"})", "9"},
      {R"(weir_dial_seconds_bucket{pool="orders",le="60"})", "9"},
      {R"(weir_dial_seconds_bucket{pool="orders",le="+Inf"})", "10"},
      {R"(weir_dial_seconds_count{pool="orders"})", "10"},
      {R"(weir_dial_seconds_sum{pool="orders"})", "61.25"},
      {R"(weir_pool_queue_wait_seconds_count{pool="cache"})", "0"},
      {R"(weir_reloads_total{outcome="accepted"})", "3"},
      {R"(weir_reloads_total{outcome="refused"})", "2"},
      {R"(weir_dials_total{pool="cache",outcome="refused"})", "0"},
      {R"(weir_backend_dials_total{pool="orders",backend="pg-a",outcome="refused"})", "9"},
      {R"(weir_backend_dials_total{pool="orders",backend="pg-b",outcome="connected"})", "0"},
      {R"(weir_retries_total{pool="orders",outcome="connected"})", "8"},
      {R"(weir_retry_budget_denied_total{pool="orders"})", "5"},
      {R"(weir_health_checks_total{pool="orders",outcome="timeout"})", "6"},
      {"weir_access_log_dropped_total", "7"},
      {"weir_config_generation", "4"},
      {R"(weir_build_info{version="1.2.3"})", "1"},
      {"process_open_fds", "40"},
      {"process_max_fds", "1024"},
      {"process_resident_memory_bytes", "5000000"},
  };
  for (const auto& each : expected) {
    const std::string& sample = each.first;
    const std::string& value = each.second;
    CAPTURE(sample);
    REQUIRE(shown.count(sample) == 1);
    CHECK(shown.at(sample) == value);
  }
  // A backend says nothing of outcomes that it never had, and a pool without checks nothing of
  // them.
  CHECK(shown.count(
            R"(weir_backend_dials_total{pool="orders",backend="pg-b",outcome="refused"})") == 0);
  CHECK(shown.count(R"(weir_health_checks_total{pool="cache",outcome="timeout"})") == 0);
}

TEST_CASE("a label's value is a configured name or a word of a closed list") {
  std::set<std::string> names = {"orders", "cache", "pg-a", "pg-b", "redis", "1.2.3"};
  std::set<std::string> words = {"in", "out", "accepted", "refused", "+Inf"};
  for (const core::Duration bound : core::kHistogramBounds) {
    words.insert(fmt::format("{:g}", std::chrono::duration<double>(bound).count()));
  }
  add_words<net::AcceptError>(words, net::kAcceptErrors);
  add_words<core::CloseReason>(words, core::kCloseReasons);
  add_words<core::DialOutcome>(words, core::kDialOutcomes);
  add_words<core::CircuitPhase>(words, core::kCircuitPhases);
  std::size_t samples = 0;
  for (const std::string& line : lines_of(text_of(troubled()))) {
    if (line[0] == '#') continue;
    ++samples;
    for (const auto& [label, value] : parsed(line).labels) {
      const bool named =
          label == "listener" || label == "pool" || label == "backend" || label == "version";
      CHECK_MESSAGE((named ? names : words).count(value) == 1, line);
    }
  }
  CHECK(samples > 100);
}

TEST_CASE("every family has its help and its type once, before its samples") {
  std::set<std::string> begun;
  std::string help;
  std::string current;
  for (const std::string& line : lines_of(text_of(troubled()))) {
    std::istringstream words(line);
    std::string hash, kind, family, rest;
    if (line.rfind("# HELP ", 0) == 0) {
      words >> hash >> kind >> help >> rest;
      CHECK_FALSE(rest.empty());
      CHECK(begun.insert(help).second);
    } else if (line.rfind("# TYPE ", 0) == 0) {
      words >> hash >> kind >> current >> rest;
      CHECK(current == help);
      const bool total = current.size() > 6 && current.substr(current.size() - 6) == "_total";
      const bool times = current.size() > 8 && current.substr(current.size() - 8) == "_seconds";
      CHECK_MESSAGE(rest == (total ? "counter" : times ? "histogram" : "gauge"), line);
    } else {
      std::string of = parsed(line).name;
      for (const char* part : {"_bucket", "_sum", "_count"}) {
        if (of == current + part) of = current;
      }
      CHECK(of == current);
    }
  }
}

TEST_CASE("two of one name, of which one is leaving, are one sample") {
  Snapshot snapshot = troubled();
  Snapshot::Backend old = snapshot.pools[0].backends[0];
  old.removed = old.draining = true;
  old.address = "10.0.0.1:1";
  snapshot.pools[0].backends.push_back(old);
  snapshot.listeners.push_back(snapshot.listeners[0]);
  snapshot.listeners[1].draining = true;
  auto shown = samples_of(text_of(snapshot));  // finds doubles
  CHECK(shown[R"(weir_backend_active_requests{pool="orders",backend="pg-a"})"] == "6");
  CHECK(shown[R"(weir_backend_circuit_state{pool="orders",backend="pg-a"})"] == "1");
  CHECK(shown[R"(weir_pool_circuit_state{pool="orders",state="open"})"] == "1");
  CHECK(shown[R"(weir_pool_backends_healthy{pool="orders"})"] == "1");
  CHECK(shown[R"(weir_listener_connections{listener="orders"})"] == "4");
}

TEST_CASE("label values are escaped") {
  Exposition text;
  text.family("a", Exposition::Type::gauge, "help");
  text.sample({{"l", "back\\slash \"quoted\"\nline"}}, 1);
  text.sample({}, 2);
  CHECK(std::move(text).text() ==
        "# HELP a help\n# TYPE a gauge\na{l=\"back\\\\slash \\\"quoted\\\"\\nline\"} 1\na 2\n");
}

TEST_CASE("GET /metrics is the text for scrapers, on both sockets") {
  for (auto routes : {all_routes(), read_only_routes()}) {
    Desk desk(routes);
    const HttpResponse response = desk.get("/metrics");
    CHECK(response.status == 200);
    CHECK(response.type == "text/plain; version=0.0.4; charset=utf-8");
    const auto shown = samples_of(response.body);
    CHECK(std::stoull(shown.at("process_max_fds")) > 0);
    CHECK(std::stoull(shown.at("process_resident_memory_bytes")) > 1'000'000);
  }
}

TEST_CASE("promtool finds nothing to complain about") {
  const net::ScratchFolder folder;
  net::write_file(folder.file("metrics"), text_of(troubled()));
  const std::string command =
      "promtool check metrics < " + folder.file("metrics") + " > " + folder.file("found") + " 2>&1";
  const int code = std::system(command.c_str());
  CHECK(code == 0);
  CHECK(net::text_of(folder.file("found")).empty());
}

TEST_CASE("every metric is in the documentation") {
  const std::string documented = net::text_of(std::string(WEIR_SOURCE_DIR) + "/docs/metrics.md");
  for (const std::string& line : lines_of(text_of(troubled()))) {
    if (line.rfind("# TYPE ", 0) != 0) continue;
    const std::string family = line.substr(7, line.rfind(' ') - 7);
    CHECK_MESSAGE(documented.find("`" + family + "`") != std::string::npos, family);
  }
}

namespace {

// The metrics that a text names.
std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex name("\\b(weir|process)_[a-z_]+");
  std::set<std::string> names;
  for (auto next = std::sregex_iterator(text.begin(), text.end(), name);
       next != std::sregex_iterator(); ++next) {
    names.insert(next->str());
  }
  return names;
}

}  // namespace

TEST_CASE("the alert rules and the Grafana dashboard name metrics that exist") {
  std::set<std::string> known;
  for (const std::string& line : lines_of(text_of(troubled()))) {
    if (line[0] != '#') known.insert(parsed(line).name);
  }
  const std::string folder = std::string(WEIR_SOURCE_DIR) + "/conf/monitoring/";
  for (const char* file : {"alerts.yaml", "grafana-dashboard.json"}) {
    const std::string text = net::text_of(folder + file);
    const auto named = metrics_in(text);
    CHECK(named.size() > 10);
    for (const std::string& name : named) CHECK_MESSAGE(known.count(name) == 1, file, ": ", name);
  }
}

TEST_CASE("promtool takes the alert rules") {
  const std::string command = "promtool check rules " + std::string(WEIR_SOURCE_DIR) +
                              "/conf/monitoring/alerts.yaml > /dev/null 2>&1";
  CHECK(std::system(command.c_str()) == 0);
}
