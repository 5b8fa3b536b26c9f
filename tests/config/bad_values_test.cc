#include "tests/config/expect_problem.h"

namespace weir::config {
namespace {

// One value of a pool at line 5, column 24.
std::string timeout(const std::string& key, const std::string& value) {
  std::string prefix = "    timeouts: {" + key + ": ";
  return with_pool(
      "  - name: p\n"
      "    backends: [{name: b, address: \"127.0.0.1:2\"}]\n" +
      prefix + value + "}\n");
}

std::string backend(const std::string& keys) {
  return with_pool("  - {name: p, backends: [{name: b, address: \"127.0.0.1:2\", " + keys +
                   "}]}\n");
}

}  // namespace

TEST_CASE("CFG-01: a duration without a unit, with a blank, a sign, an exponent or a prefix") {
  for (const char* value : {"500", "0"}) {
    check_refused({value, timeout("linger", value), 5, 24, "pools[0].timeouts.linger",
                   "number without a unit"});
  }
  for (const char* value : {"5 s", "-1s", "1e3", "0x10", "010s", "3.0s", "1_000ms", "1d", "fast",
                            "\"\"", "1h30m", "0x10s"}) {
    check_refused({value, timeout("linger", value), 5, 24, "pools[0].timeouts.linger",
                   "is not a duration such as 250ms, 10s, 5m or 1h (allowed: 0s..60s)"});
  }
}

TEST_CASE("CFG-01: a number that is not plain decimal digits") {
  for (const char* value : {"3.0", "010", "0x10", "1e3", "1_000", "-1", "+1", "ten", "true", "~"}) {
    check_refused({value, backend(std::string("weight: ") + value), 3, 68,
                   "pools[0].backends[0].weight",
                   "is not a whole number in decimal digits (allowed: 0..256)"});
  }
}

TEST_CASE("CFG-01: a value out of range, huge ones included") {
  const char* weight = "pools[0].backends[0].weight";
  const char* out = "is out of range";
  check_refused({
      {"weight 257", backend("weight: 257"), 3, 68, weight, "out of range (allowed: 0..256)"},
      {"huge", backend("weight: 99999999999999999999999"), 3, 68, weight, out},
      {"priority", backend("priority: 256"), 3, 70, "pools[0].backends[0].priority", out},
      {"max_active", backend("max_active: 10000001"), 3, 72, "pools[0].backends[0].max_active",
       out},
      {"linger 61s", timeout("linger", "61s"), 5, 24, "pools[0].timeouts.linger", out},
      {"huge linger", timeout("linger", "99999999999999999999h"), 5, 24, "pools[0].timeouts.linger",
       out},
      {"wraps to 0", timeout("linger", "5124095576030431h"), 5, 24, "pools[0].timeouts.linger",
       out},
      {"connect 0", timeout("connect", "0s"), 5, 25, "pools[0].timeouts.connect",
       "out of range (allowed: 1ms..5m)"},
      {"no workers", "workers: 0\n" + small_file(), 1, 10, "workers", out},
      {"too many workers", "workers: 257\n" + small_file(), 1, 10, "workers", out},
      {"workers", "workers: all\n" + small_file(), 1, 10, "workers",
       "neither auto nor a whole number (allowed: auto, 1..256)"},
      {"retries", small_file("resilience: {retry_attempts: 11}"), 8, 34,
       "pools[0].resilience.retry_attempts", out},
      {"listener", small_file("", "max_connections: 10000001"), 5, 22,
       "listeners[0].max_connections", out},
  });
}

TEST_CASE("a network that is none, or has bits behind its prefix") {
  const char* list = " (allowed: a list of 10.0.0.0/8, 2001:db8::/32, 192.0.2.7)";
  const std::string none = std::string("is neither an address nor a block of addresses") + list;
  check_refused({
      {"name", small_file("", "allow: [db.internal]"), 5, 13, "listeners[0].allow[0]",
       none.c_str()},
      {"prefix", small_file("", "deny: [::1, 10.0.0.0/33]"), 5, 17, "listeners[0].deny[1]",
       none.c_str()},
      {"slip", small_file("", "allow: [10.0.0.1/8]"), 5, 13, "listeners[0].allow[0]",
       "has bits behind its prefix: 10.0.0.0/8 is the block it is in"},
      {"no list", small_file("", "allow: 10.0.0.0/8"), 5, 12, "listeners[0].allow",
       "where a list belongs"},
      {"rate", small_file("", "max_connection_rate_per_source: 1000001"), 5, 37,
       "listeners[0].max_connection_rate_per_source", "is out of range"},
  });
  const Configuration configuration =
      must_load(small_file("", "allow: [10.0.0.0/8, \"::1\"]\n    deny: []"));
  REQUIRE(configuration.listeners[0].access.allow.size() == 2);
  CHECK(configuration.listeners[0].access.allow[1].text() == "::1/128");
  CHECK(configuration.listeners[0].access.deny.empty());
}

TEST_CASE("keepalive times that the system counts in seconds are whole seconds") {
  check_refused({"idle", small_file("keepalive: {idle: 1500ms}"), 8, 23, "pools[0].keepalive.idle",
                 "not in whole seconds"});
  const Configuration configuration = must_load(small_file("keepalive: {idle: 2000ms}"));
  CHECK(configuration.pools[0].keepalive.idle == core::Duration(std::chrono::seconds(2)));
}

TEST_CASE("a word that is not one of the choices") {
  check_refused({
      {"level", "log: {level: verbose}\n" + small_file(), 1, 14, "log.level",
       "\"verbose\" is not one of the choices (allowed: debug, info, warning, error)"},
      {"case", "log: {level: Info}\n" + small_file(), 1, 14, "log.level", "not one of the choices"},
      {"format", "log: {format: xml}\n" + small_file(), 1, 15, "log.format", "text, json"},
      {"balance", small_file("balance: fastest"), 8, 14, "pools[0].balance", "least_connections"},
      {"boolean", small_file("resilience: {retry_enabled: yes}"), 8, 33,
       "pools[0].resilience.retry_enabled", "is not a boolean (allowed: true, false)"},
  });
}

TEST_CASE("an access log is stdout, off or a file, and no boolean that would name a file") {
  check_refused({
      {"no", "log: {access: no}\n" + small_file(), 1, 15, "log.access", "boolean or null"},
      {"null", "log: {access: null}\n" + small_file(), 1, 15, "log.access", "boolean or null"},
      {"stderr", "log: {access: stderr}\n" + small_file(), 1, 15, "log.access",
       "is where the leveled log goes"},
      {"empty", "log: {access: \"\"}\n" + small_file(), 1, 15, "log.access", "names no file"},
  });
  CHECK(must_load("log: {access: off}\n" + small_file()).app.access_log == "off");
  CHECK(must_load("log: {access: a.log}\n" + small_file()).app.access_log == "/etc/weir/a.log");
  CHECK(must_load("log: {access: ../a.log}\n" + small_file()).app.access_log == "/etc/a.log");
  CHECK(must_load("log: {access: /var/a.log}\n" + small_file()).app.access_log == "/var/a.log");
  CHECK(must_load("log: {access: ./off}\n" + small_file()).app.access_log == "/etc/weir/off");
}

TEST_CASE("CFG-01: half_close longer than idle") {
  const char* path = "pools[0].timeouts.half_close";
  check_refused({
      {"both written", timeout("idle", "10s, half_close: 11s"), 5, 39, path, "longer than idle"},
      {"idle by default", timeout("half_close", "2h"), 5, 28, path, "longer than idle"},
  });
}

TEST_CASE("half_close that is not written is the smaller of 30s and idle") {
  using std::chrono::seconds;
  const auto half_close = [](const std::string& timeouts) {
    return must_load(small_file("timeouts: {" + timeouts + "}")).pools[0].timeouts.half_close;
  };
  CHECK(half_close("idle: 10s") == core::Duration(seconds(10)));
  CHECK(half_close("idle: 10m") == core::Duration(seconds(30)));
  CHECK(half_close("idle: 0s") == core::Duration(seconds(30)));
  CHECK(half_close("idle: 0s, half_close: 3h") == core::Duration(std::chrono::hours(3)));
  CHECK(half_close("idle: 10s, half_close: 10s") == core::Duration(seconds(10)));
  CHECK(half_close("idle: 10s, half_close: 0s") == core::Duration::zero());
}

TEST_CASE("a wrong idle says nothing about half_close") {
  check_refused({"idle", timeout("idle", "x, half_close: 2h"), 5, 22, "pools[0].timeouts.idle",
                 "is not a duration"});
}

TEST_CASE("a value of the wrong kind is refused with what belongs there") {
  check_refused({
      {"list for one", backend("weight: [1]"), 3, 68, "pools[0].backends[0].weight",
       "a list where a single value belongs"},
      {"mapping for one", timeout("connect", "{a: 1}"), 5, 25, "pools[0].timeouts.connect",
       "a mapping where a single value belongs"},
      {"one for a mapping", small_file("timeouts: 5s"), 8, 15, "pools[0].timeouts",
       "a single value where a mapping belongs (allowed: connect, idle,"},
      {"null for a mapping", small_file("timeouts: null"), 8, 15, "pools[0].timeouts",
       "a single value where a mapping belongs"},
      {"one for a list", with_listeners("  - {name: l, bind: \"127.0.0.1:1\", pool: p}\n"), 3, 21,
       "listeners[0].bind", "a single value where a list belongs"},
      {"one for a backend", with_pool("  - {name: p, backends: [\"127.0.0.1:2\"]}\n"), 3, 26,
       "pools[0].backends[0]", "a single value where a mapping belongs"},
  });
  const LoadResult whole = load_text("- a\n");
  REQUIRE(whole.problems.size() == 1);
  CHECK(whole.problems[0].text("f") ==
        "f:1:1: a list where a mapping belongs "
        "(allowed: workers, admin, http, log, shutdown, listeners, pools)");
}

TEST_CASE("an empty value points at its key") {
  check_refused({
      {"before another key", small_file("balance:\n    source_address: \"\""), 8, 5,
       "pools[0].balance", "no value (allowed: round_robin,"},
      {"in braces", timeout("connect", ""), 5, 16, "pools[0].timeouts.connect", "no value"},
      {"a mapping", "log:\n" + small_file(), 1, 1, "log", "no value"},
      {"at the end", small_file("balance:"), 8, 5, "pools[0].balance", "no value"},
      {"alone in braces", "shutdown: {deadline: }\n" + small_file(), 1, 12, "shutdown.deadline",
       "no value"},
      {"an item of a list", with_listeners("  - name: l\n    pool: p\n    bind:\n      -\n"), 5, 5,
       "listeners[0].bind[0]", "no value"},
  });
}

TEST_CASE("an empty value is not taken for the key that follows it, even when that is null") {
  const LoadResult result = load_text(small_file("balance:\n    null: x"));
  REQUIRE(result.problems.size() == 2);
  CHECK(result.problems[0].text("f").find("f:8:5: pools[0].balance: no value") == 0);
  CHECK(result.problems[1].text("f").find("f:9:5: pools[0].null: unknown key") == 0);
}

}  // namespace weir::config
