#include <chrono>
#include <string>

#include "config/keys.h"
#include "tests/config/expect_problem.h"
#include "tests/config/loading.h"

namespace weir::config {
namespace {

std::string resilience(const std::string& keys) { return small_file("resilience: {" + keys + "}"); }

// The only thing said about the file, which is taken.
void check_warned(const std::string& text, const std::string& path, const std::string& part) {
  const LoadResult loaded = load_text(text);
  CAPTURE(text);
  CHECK(loaded.configuration);
  REQUIRE(loaded.problems.size() == 1);
  CHECK(loaded.problems[0].warning);
  CHECK(loaded.problems[0].path == "pools[0].resilience." + path);
  CHECK(loaded.problems[0].message.find(part) != std::string::npos);
  CHECK(loaded.problems[0].text("f").find(": warning: ") != std::string::npos);
}

}  // namespace

TEST_CASE("a queue needs a limit to wait for") {
  check_refused(
      {"queue", resilience("max_pending_requests: 5"), 8, 40,
       "pools[0].resilience.max_pending_requests",
       "a queue of 5 without a limit to wait for (allowed: 0, or max_active_requests above "
       "0)"});
  CHECK(load_text(resilience("max_pending_requests: 0")).problems.empty());
}

TEST_CASE("nobody waits longer than a drain may take") {
  const std::string queue = "max_active_requests: 1, max_pending_requests: 1, pending_timeout: ";
  const auto refused = load_text("shutdown: {deadline: 5s}\n" + resilience(queue + "6s"));
  REQUIRE(refused.problems.size() == 1);
  CHECK_FALSE(refused.problems[0].warning);
  CHECK(refused.problems[0].message ==
        "\"6s\" is longer than shutdown.deadline (allowed: at most that)");
  CHECK(load_text("shutdown: {deadline: 5s}\n" + resilience(queue + "5s")).problems.empty());
  CHECK(load_text("shutdown: {deadline: 0s}\n" + resilience(queue + "60s")).problems.empty());
}

TEST_CASE("a queue without a bound on the wait is warned of") {
  check_warned(resilience("max_active_requests: 1, max_pending_requests: 1"),
               "max_pending_requests", "bounded by the client's patience alone");
}

TEST_CASE("a lone backend that one failure shuts out is warned of, wherever that is said") {
  const auto warned_at = [](const std::string& keys, int line, int column) {
    const LoadResult loaded = load_all_said(keys.empty() ? small_file() : resilience(keys));
    CAPTURE(keys);
    CHECK(loaded.configuration);
    REQUIRE(loaded.problems.size() == 1);
    const Problem& problem = loaded.problems[0];
    CHECK(problem.warning);
    CHECK(problem.path == "pools[0].resilience.max_fails");
    CHECK(problem.message.find("refuses every client for") != std::string::npos);
    CHECK(problem.line == line);
    CHECK(problem.column == column);
  };
  warned_at("", 6, 5);
  warned_at("circuit_enabled: true", 8, 17);
  warned_at("max_fails: 1", 8, 29);
  CHECK(load_all_said(resilience("max_fails: 2")).problems.empty());
  CHECK(load_all_said(resilience("circuit_enabled: false")).problems.empty());
}

TEST_CASE("a probe that can only come too late is warned of") {
  check_warned(resilience("max_fails: 2, fail_timeout: 4s"), "fail_timeout",
               "4 s is less than timeouts.connect");
  CHECK(load_text(resilience("max_fails: 2, fail_timeout: 5s")).problems.empty());
}

TEST_CASE("a verdict by the first byte is read, and its bound means nothing without it") {
  const auto pool =
      must_load(resilience("circuit_success: first_byte, first_byte_timeout: 2s")).pools[0];
  CHECK(pool.resilience.circuit_success == upstream::CircuitSuccess::first_byte);
  CHECK(pool.resilience.first_byte_timeout == std::chrono::seconds(2));
  const char* timeout = "pools[0].resilience.first_byte_timeout";
  check_refused({
      {"alone", resilience("first_byte_timeout: 2s"), 8, 38, timeout,
       "is of no effect with circuit_success: connect"},
      {"with connect", resilience("circuit_success: connect, first_byte_timeout: 2s"), 8, 64,
       timeout, "is of no effect with circuit_success: connect"},
      {"zero", resilience("circuit_success: first_byte, first_byte_timeout: 0s"), 8, 67, timeout,
       "out of range"},
      {"choice", resilience("circuit_success: answer, first_byte_timeout: 2s"), 8, 35,
       "pools[0].resilience.circuit_success",
       "is not one of the choices (allowed: connect, first_byte)"},
  });
}

TEST_CASE("a first byte that would come too late to count is warned of") {
  const std::string first_byte = "max_fails: 2, circuit_success: first_byte, ";
  check_warned(resilience(first_byte + "first_byte_timeout: 11s"), "first_byte_timeout",
               "11 s is longer than fail_timeout");
  const std::string idle = "\n    timeouts: {idle: 4s, half_close: 4s}";
  check_warned(resilience(first_byte + "first_byte_timeout: 4s") + idle, "first_byte_timeout",
               "4 s is not reached: timeouts.idle ends");
  CHECK(load_text(resilience(first_byte + "first_byte_timeout: 3s") + idle).problems.empty());
}

TEST_CASE("what is wrong about a circuit is said once") {
  for (const char* keys : {"max_fails: 0", "circuit_enabled: maybe", "fail_timeout: 5"}) {
    CAPTURE(keys);
    CHECK(load_all_said(resilience(keys)).problems.size() == 1);
  }
}

TEST_CASE("fractions are plain decimals within their range") {
  const char* rate = "pools[0].resilience.circuit_failure_rate";
  check_refused({
      {"zero", resilience("circuit_failure_rate: 0"), 8, 40, rate, "out of range"},
      {"above", resilience("circuit_failure_rate: 1.01"), 8, 40, rate, "out of range"},
      {"percent", resilience("circuit_failure_rate: 50%"), 8, 40, rate, "is not a fraction"},
      {"exponent", resilience("circuit_failure_rate: 5e-1"), 8, 40, rate, "is not a fraction"},
      {"bare point", resilience("circuit_failure_rate: .5"), 8, 40, rate, "is not a fraction"},
      {"digits", resilience("circuit_failure_rate: 0.12345"), 8, 40, rate, "is not a fraction"},
  });
  const auto pool =
      must_load(resilience("circuit_failure_rate: 1, circuit_jitter: 0.0625")).pools[0];
  CHECK(pool.resilience.circuit.failure_rate == 1);
  CHECK(pool.resilience.circuit.jitter == 0.0625);
}

TEST_CASE("a retry budget is a percentage, and is warned of where nothing is retried") {
  const char* path = "pools[0].resilience.retry_budget_percent";
  const auto budget = [](const std::string& value) {
    return resilience("retry_budget_percent: " + value);
  };
  check_refused({
      {"above", budget("101"), 8, 40, path, "out of range (allowed: 0..100)"},
      {"negative", budget("-1"), 8, 40, path, "is not a whole number in decimal digits"},
      {"fraction", budget("0.2"), 8, 40, path, "is not a whole number in decimal digits"},
      {"percent sign", budget("20%"), 8, 40, path, "is not a whole number in decimal digits"},
  });
  CHECK(must_load(resilience("")).pools[0].resilience.retry_budget_percent == 0);
  CHECK(must_load(budget("100")).pools[0].resilience.retry_budget_percent == 100);
  CHECK(must_load(budget("\"${P}\""), {{"P", "20"}}).pools[0].resilience.retry_budget_percent ==
        20);
  check_warned(budget("20, retry_enabled: false"), "retry_budget_percent",
               "retry_enabled is false");
  CHECK(load_text(budget("0, retry_enabled: false")).problems.empty());
}

TEST_CASE("what comes from the environment is what is taken") {
  const Variables environment = {{"A", "7"},          {"P", "9"},   {"T", "3s"},     {"B", "5"},
                                 {"E", "false"},      {"F", "4"},   {"O", "6s"},     {"J", "0.25"},
                                 {"N", "2"},          {"W", "30s"}, {"R", "0.75"},   {"S", "11"},
                                 {"C", "first_byte"}, {"Y", "2s"},  {"RE", "false"}, {"RA", "8"},
                                 {"RD", "12s"},       {"RI", "1s"}, {"RM", "13s"},   {"RB", "20"}};
  const LoadResult loaded = load_text(
      small_file("resilience: {max_active_requests: \"${A}\", max_pending_requests: \"${P}\", "
                 "pending_timeout: \"${T}\", max_active_per_backend: \"${B}\", "
                 "circuit_enabled: \"${E}\", max_fails: \"${F}\", fail_timeout: \"${O}\", "
                 "circuit_jitter: \"${J}\", circuit_half_open_probes: \"${N}\", "
                 "circuit_window: \"${W}\", circuit_failure_rate: \"${R}\", "
                 "circuit_min_samples: \"${S}\", circuit_success: \"${C}\", "
                 "first_byte_timeout: \"${Y}\", retry_enabled: \"${RE}\", "
                 "retry_attempts: \"${RA}\", retry_deadline: \"${RD}\", "
                 "retry_backoff_initial: \"${RI}\", retry_backoff_max: \"${RM}\", "
                 "retry_budget_percent: \"${RB}\"}"),
      environment);
  REQUIRE(loaded.configuration);
  const upstream::ResilienceOptions& taken = loaded.configuration->pools[0].resilience;
  CHECK(taken.admission.max_active == 7);
  CHECK(taken.admission.max_pending == 9);
  CHECK(taken.pending_timeout == std::chrono::seconds(3));
  CHECK(taken.max_active_per_backend == 5);
  CHECK_FALSE(taken.circuit.enabled);
  CHECK(taken.circuit.max_fails == 4);
  CHECK(taken.circuit.fail_timeout == std::chrono::seconds(6));
  CHECK(taken.circuit.jitter == 0.25);
  CHECK(taken.circuit.half_open_probes == 2);
  CHECK(taken.circuit.window == std::chrono::seconds(30));
  CHECK(taken.circuit.failure_rate == 0.75);
  CHECK(taken.circuit.min_samples == 11);
  CHECK(taken.circuit_success == upstream::CircuitSuccess::first_byte);
  CHECK(taken.first_byte_timeout == std::chrono::seconds(2));
  CHECK_FALSE(taken.retry.enabled);
  CHECK(taken.retry.attempts == 8);
  CHECK(taken.retry.deadline == std::chrono::seconds(12));
  CHECK(taken.retry.backoff_initial == std::chrono::seconds(1));
  CHECK(taken.retry.backoff_max == std::chrono::seconds(13));
  CHECK(taken.retry_budget_percent == 20);
}

TEST_CASE("every key of resilience can come from the environment") {
  for (const Key& key : all_keys()) {
    const std::string_view prefix = "pools[].resilience.";
    if (!key.path.starts_with(prefix)) continue;
    CAPTURE(key.path);
    const std::string name(key.path.substr(prefix.size()));
    // One that is an error by itself.
    const std::string beside = name == "first_byte_timeout" ? ", circuit_success: first_byte" : "";
    must_load(resilience(name + ": \"${V}\"" + beside), {{"V", std::string(key.default_text)}});
  }
}

TEST_CASE("a pool's limit that its backends can never reach is warned of") {
  check_warned(resilience("max_active_requests: 10, max_active_per_backend: 9"),
               "max_active_per_backend", "take 9 sessions together, less than max_active_requests");
  CHECK(
      load_text(resilience("max_active_requests: 9, max_active_per_backend: 9")).problems.empty());
  CHECK(load_text(resilience("max_active_per_backend: 9")).problems.empty());
}

}  // namespace weir::config
