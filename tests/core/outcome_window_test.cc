#include "weir/core/outcome_window.h"

#include <doctest/doctest.h>

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{1000s};

struct Window : OutcomeWindow {
  explicit Window(Duration length) { set_length(length); }
  void add_many(TimePoint now, int successes, int failures) {
    for (int i = 0; i < successes; ++i) add(now, false);
    for (int i = 0; i < failures; ++i) add(now, true);
  }
  std::uint64_t samples(TimePoint now) { return tally(now).samples; }
  std::uint64_t failures(TimePoint now) { return tally(now).failures; }
};

}  // namespace

TEST_CASE("a window counts successes and failures") {
  Window window(10s);
  window.add_many(kStart, 3, 2);
  window.add_many(kStart + 5s, 1, 1);
  CHECK(window.samples(kStart + 5s) == 7);
  CHECK(window.failures(kStart + 5s) == 3);
}

TEST_CASE("an outcome counts for nine tenths of the window at least and all of it at most") {
  for (int tenths = 0; tenths < 100; ++tenths) {
    const TimePoint at = kStart + 100ms * tenths;
    Window window(10s);
    window.add(at, true);
    CHECK(window.failures(at + 9s) == 1);
    CHECK(window.failures(at + 10s) == 0);
  }
}

TEST_CASE("outcomes leave the window in the order they came") {
  Window window(10s);
  for (int second = 0; second < 10; ++second) window.add(kStart + 1s * second, true);
  for (int second = 0; second < 10; ++second) {
    CHECK(window.failures(kStart + 9s + 1s * second) == static_cast<std::uint64_t>(10 - second));
  }
  CHECK(window.failures(kStart + 19s) == 0);
}

TEST_CASE("after a long silence nothing is left") {
  Window window(10s);
  window.add_many(kStart, 5, 5);
  CHECK(window.samples(kStart + 24h) == 0);
  window.add(kStart + 24h, true);
  CHECK(window.samples(kStart + 24h) == 1);
}

TEST_CASE("an outcome from a clock that is behind counts as the newest") {
  Window window(10s);
  window.add(kStart + 5s, true);
  window.add(kStart + 3s, true);
  CHECK(window.failures(kStart + 1s) == 2);
  CHECK(window.failures(kStart + 14s) == 2);
  CHECK(window.failures(kStart + 15s) == 0);
}

TEST_CASE("a window of length 0 counts nothing") {
  Window window(0s);
  window.add_many(kStart, 5, 5);
  CHECK(window.samples(kStart) == 0);
}

TEST_CASE("a longer window keeps all that the shorter one held") {
  Window window(10s);
  window.add_many(kStart, 1, 1);
  window.add_many(kStart + 9s, 2, 3);
  window.set_length(60s);
  CHECK(window.samples(kStart + 9s) == 7);
  CHECK(window.failures(kStart + 40s) == 4);
  CHECK(window.failures(kStart + 70s) == 0);
}

TEST_CASE("a shorter window keeps what it still covers") {
  Window window(60s);
  window.add_many(kStart, 10, 10);
  window.add_many(kStart + 55s, 1, 2);
  window.set_length(20s);
  CHECK(window.samples(kStart + 55s) == 3);
  CHECK(window.failures(kStart + 75s) == 0);
}

TEST_CASE("the same length again changes nothing, and length 0 forgets") {
  Window window(10s);
  window.add_many(kStart, 1, 2);
  window.set_length(10s);
  CHECK(window.samples(kStart) == 3);
  window.set_length(0s);
  window.set_length(10s);
  CHECK(window.samples(kStart) == 0);
}

TEST_CASE("a window shorter than its slices are many still slides") {
  Window window(5ns);
  window.add(kStart, true);
  CHECK(window.failures(kStart) == 1);
  CHECK(window.failures(kStart + 10ns) == 0);
}
