#include "weir/core/backoff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

// The longest and the mean of each of the first `rounds` waits over many connections.
struct Round {
  Duration longest{0};
  double mean_ms = 0;
};

std::vector<Round> sample(Duration initial, Duration max, std::size_t rounds) {
  constexpr int connections = 2000;
  Rng rng(7);
  std::vector<Round> result(rounds);
  for (int i = 0; i < connections; ++i) {
    Backoff backoff(initial, max);
    for (Round& round : result) {
      const Duration wait = backoff.next(rng);
      REQUIRE(wait >= 0ns);
      round.longest = std::max(round.longest, wait);
      round.mean_ms += std::chrono::duration<double, std::milli>(wait).count() / connections;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("the waits spread over all of a ceiling that doubles up to the maximum") {
  const std::vector<Round> rounds = sample(100ms, 500ms, 5);
  const Duration ceilings[] = {100ms, 200ms, 400ms, 500ms, 500ms};
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    CAPTURE(i);
    const double ceiling_ms = std::chrono::duration<double, std::milli>(ceilings[i]).count();
    CHECK(rounds[i].longest <= ceilings[i]);
    CHECK(rounds[i].longest > ceilings[i] * 95 / 100);
    CHECK(rounds[i].mean_ms == doctest::Approx(ceiling_ms / 2).epsilon(0.05));
  }
}

TEST_CASE("an initial wait or a maximum of 0 retries at once") {
  for (const Round& round : sample(0s, 500ms, 5)) CHECK(round.longest == 0ns);
  for (const Round& round : sample(100ms, 0s, 5)) CHECK(round.longest == 0ns);
}

TEST_CASE("a maximum below the initial wait bounds the first one too") {
  for (const Round& round : sample(10s, 50ms, 3)) CHECK(round.longest <= 50ms);
}

TEST_CASE("the ceiling does not overflow however often it doubles") {
  Rng rng(3);
  Backoff backoff(1ns, Duration::max());
  for (int i = 0; i < 200; ++i) REQUIRE(backoff.next(rng) >= 0ns);
}
