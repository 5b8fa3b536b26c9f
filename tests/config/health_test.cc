#include "tests/config/expect_problem.h"
#include "tests/config/loading.h"

namespace weir::config {
namespace {

using namespace std::chrono_literals;

std::string health(const std::string& keys) { return small_file("health: {" + keys + "}"); }

}  // namespace

TEST_CASE("without the key there are no active checks") {
  CHECK_FALSE(must_load(small_file()).pools[0].health);
}

TEST_CASE("health written as an empty mapping is checks with every default") {
  const auto read = must_load(health("")).pools[0].health;
  REQUIRE(read);
  CHECK(read->type == upstream::HealthType::tcp);
  CHECK(read->interval == 5s);
  CHECK(read->timeout == 2s);
  CHECK(read->rise == 2);
  CHECK(read->fall == 3);
}

TEST_CASE("every key of health is read") {
  const auto read =
      must_load(health("type: tcp, interval: 250ms, timeout: 100ms, rise: 1, fall: 1000"))
          .pools[0]
          .health;
  REQUIRE(read);
  CHECK(read->interval == 250ms);
  CHECK(read->timeout == 100ms);
  CHECK(read->rise == 1);
  CHECK(read->fall == 1000);
}

TEST_CASE("what is wrong with health is refused at its place, with what is allowed") {
  check_refused({
      {"type", health("type: http"), 8, 20, "pools[0].health.type",
       "\"http\" is not one of the choices (allowed: tcp)"},
      {"no interval", health("interval: 0s"), 8, 24, "pools[0].health.interval",
       "\"0s\" is out of range (allowed: 1ms..1h)"},
      {"no timeout", health("timeout: 0s"), 8, 23, "pools[0].health.timeout",
       "\"0s\" is out of range (allowed: 1ms..5m)"},
      {"no unit", health("interval: 5"), 8, 24, "pools[0].health.interval",
       "is a number without a unit"},
      {"rise 0", health("rise: 0"), 8, 20, "pools[0].health.rise",
       "\"0\" is out of range (allowed: 1..1000)"},
      {"fall 0", health("fall: 0"), 8, 20, "pools[0].health.fall",
       "\"0\" is out of range (allowed: 1..1000)"},
      {"fall -1", health("fall: -1"), 8, 20, "pools[0].health.fall", "is not a whole number"},
      {"unknown", health("port: 8080"), 8, 14, "pools[0].health.port",
       "unknown key (allowed here: type, interval, timeout, rise, fall)"},
      {"misspelt", health("intervall: 5s"), 8, 14, "pools[0].health.intervall",
       "did you mean interval?"},
      {"twice", health("rise: 1, rise: 2"), 8, 23, "pools[0].health.rise", "given twice"},
      {"a word", small_file("health: tcp"), 8, 13, "pools[0].health", "a single value"},
      {"nothing", small_file("health:"), 8, 5, "pools[0].health", "no value"},
      {"elsewhere", small_file("", "health: {}"), 5, 5, "listeners[0].health",
       "it belongs to pools[]"},
  });
}

TEST_CASE("a timeout longer than interval is taken with a warning, wherever that is said") {
  const auto warned_at = [](const std::string& keys, int column) {
    const LoadResult loaded = load_text(health(keys));
    CAPTURE(keys);
    CHECK(loaded.configuration);
    REQUIRE(loaded.problems.size() == 1);
    CHECK(loaded.problems[0].warning);
    CHECK(loaded.problems[0].path == "pools[0].health.timeout");
    CHECK(loaded.problems[0].message.starts_with("longer than interval"));
    CHECK(loaded.problems[0].line == 8);
    CHECK(loaded.problems[0].column == column);
  };
  warned_at("interval: 1s, timeout: 3s", 37);
  warned_at("timeout: 6s", 23);
  warned_at("interval: 1s", 13);
  CHECK(load_text(health("interval: 2s")).problems.empty());
}

}  // namespace weir::config
