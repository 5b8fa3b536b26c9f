#include "weir/proxy/access_entry.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/tiny_json.h"
#include "tests/upstream/made_pool.h"

using namespace weir;
using namespace weir::proxy;
using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;
using upstream::Attempt;
using Keys = std::vector<std::string>;

namespace {

Attempt attempt(const upstream::Backend& backend, DialOutcome outcome, core::Duration took) {
  Attempt made;
  made.backend = &backend;
  made.outcome = outcome;
  made.took = took;
  return made;
}

std::string line_of(const AccessEntry& entry) {
  net::WallClock clock;
  std::string text = "before";
  append(text, entry, clock);
  REQUIRE(text.starts_with("before{"));
  REQUIRE(text.ends_with("}\n"));
  return text.substr(6);
}

Json json_of(const AccessEntry& entry) { return JsonReader::read(line_of(entry)); }

AccessEntry served() {
  AccessEntry entry;
  entry.session = 42;
  entry.listener = "orders";
  entry.client = "192.0.2.1:40000";
  entry.pool = "orders-pool";
  entry.connect = 1500us;
  entry.first_byte = 2s;
  entry.duration = 3661s;
  entry.bytes_in = 18446744073709551615ULL;
  entry.bytes_out = 7;
  entry.reason = CloseReason::backend_closed;
  entry.config_generation = 3;
  entry.queue = 7500us;
  return entry;
}

}  // namespace

TEST_CASE("the line of a served session has the keys of the contract, in their order") {
  const upstream::Backend a(upstream::made_backend("pg-a", "127.0.0.1:5432"), {}, "orders", 1, 1);
  const upstream::Backend b(upstream::made_backend("pg-b", "db.internal:5432"), {}, "orders", 1, 1);
  std::vector<Attempt> attempts;
  attempts.push_back(attempt(a, DialOutcome::refused, 250us));
  attempts.push_back(attempt(b, DialOutcome::connected, 1ms));
  attempts.back().resolved = std::make_unique<std::string>("10.0.0.9:5432");
  AccessEntry entry = served();
  entry.attempts = attempts;
  const Json line = json_of(entry);
  CHECK(line.keys() == Keys{"ts", "session", "listener", "client", "peer", "pool", "backend",
                            "address", "attempts", "queue_ms", "connect_ms", "first_byte_ms",
                            "duration_ms", "bytes_in", "bytes_out", "closed_by", "reason",
                            "config_generation"});
  CHECK(line["ts"].text.size() == 24);
  CHECK(line["session"].count() == 42);
  CHECK(line["listener"].text == "orders");
  CHECK(line["client"].text == "192.0.2.1:40000");
  CHECK(line["peer"].text == "192.0.2.1:40000");
  CHECK(line["pool"].text == "orders-pool");
  CHECK(line["backend"].text == "pg-b");
  CHECK(line["address"].text == "10.0.0.9:5432");
  CHECK(line["queue_ms"].number() == 7.5);
  CHECK(line["connect_ms"].text == "1.500");
  CHECK(line["first_byte_ms"].text == "2000.000");
  CHECK(line["duration_ms"].text == "3661000.000");
  CHECK(line["bytes_in"].count() == 18446744073709551615ULL);
  CHECK(line["bytes_out"].count() == 7);
  CHECK(line["closed_by"].text == "backend");
  CHECK(line["reason"].text == "backend_closed");
  CHECK(line["config_generation"].count() == 3);
}

TEST_CASE("each attempt has its backend, its address, its outcome and its time") {
  const upstream::Backend a(upstream::made_backend("pg-a", "127.0.0.1:5432"), {}, "orders", 1, 1);
  std::vector<Attempt> attempts;
  for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
    attempts.push_back(attempt(a, static_cast<DialOutcome>(i), 10ms));
  }
  AccessEntry entry = served();
  entry.attempts = attempts;
  const Json line = json_of(entry);
  REQUIRE(line["attempts"].items.size() == core::kDialOutcomes);
  for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
    const Json& each = line["attempts"].items[i];
    CHECK(each.keys() == Keys{"backend", "address", "outcome", "ms"});
    CHECK(each["backend"].text == "pg-a");
    CHECK(each["address"].text == "127.0.0.1:5432");
    CHECK(each["outcome"].text == core::name(static_cast<DialOutcome>(i)));
    CHECK(each["ms"].text == "10.000");
  }
}

TEST_CASE("what does not apply to a session that was never served is left out") {
  AccessEntry entry = served();
  entry.connect = core::Duration::min();
  entry.first_byte = core::Duration::min();
  entry.reason = CloseReason::listener_full;
  const Json line = json_of(entry);
  CHECK(line.keys() == Keys{"ts", "session", "listener", "client", "peer", "pool", "attempts",
                            "queue_ms", "duration_ms", "bytes_in", "bytes_out", "closed_by",
                            "reason", "config_generation"});
  CHECK(line["attempts"].items.empty());
  CHECK(line["closed_by"].text == "weir");
}

TEST_CASE("every reason is told by its name and by who ended the session") {
  AccessEntry entry = served();
  for (std::size_t i = 0; i < core::kCloseReasons; ++i) {
    entry.reason = static_cast<CloseReason>(i);
    const Json line = json_of(entry);
    CHECK(line["reason"].text == core::name(entry.reason));
    CHECK(line["closed_by"].text == core::name(core::closed_by(entry.reason)));
  }
}

TEST_CASE("a unix path with any byte in it leaves the line one object on one line") {
  const std::string odd = "/run/a \"b\"\\c\nd\x01.sock";
  upstream::BackendOptions options = upstream::made_backend("pg-a", "127.0.0.1:5432");
  options.address.kind = core::Endpoint::Kind::unix_path;
  options.address.host = odd;
  const upstream::Backend a(options, {}, "orders", 1, 1);
  std::vector<Attempt> attempts;
  attempts.push_back(attempt(a, DialOutcome::connected, 1ms));
  AccessEntry entry = served();
  entry.attempts = attempts;
  entry.client = "unix:" + odd;  // a unix client may bind its socket to a path of its choice
  const std::string text = line_of(entry);
  CHECK(text.find('\n') == text.size() - 1);
  Json line;
  CHECK_NOTHROW(line = JsonReader::read(text));
  REQUIRE(line.has("client"));
  CHECK(line["client"].text == "unix:" + odd);
  CHECK(line["address"].text == "unix:" + odd);
}
