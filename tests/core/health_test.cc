#include "weir/core/health.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

constexpr auto kGood = Verdict::success;
constexpr auto kBad = Verdict::failure;
constexpr auto kOurs = Verdict::neutral;

// How often the state turned under these verdicts.
int turns(Health& health, const std::vector<Verdict>& verdicts) {
  return static_cast<int>(std::count_if(verdicts.begin(), verdicts.end(), [&](Verdict verdict) {
    return health.take(verdict).has_value();
  }));
}

// In ascending order.
std::vector<Duration> starts(std::size_t backends, Duration interval, std::uint64_t seed) {
  Rng rng(seed);
  const double turn = rng.unit();
  std::vector<Duration> all;
  for (std::size_t place = 0; place < backends; ++place) {
    all.push_back(first_check(place, backends, interval, turn, rng));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("a backend starts as healthy, with nothing said against it") {
  const Health health(2, 3);
  CHECK(health.state() == HealthState::healthy);
  CHECK(health.against() == 0);
}

TEST_CASE("fall failures in a row make it unhealthy, and the turn is told once") {
  Health health(2, 3);
  CHECK_FALSE(health.take(kBad));
  CHECK_FALSE(health.take(kBad));
  CHECK(health.against() == 2);
  CHECK(health.take(kBad) == HealthState::unhealthy);
  CHECK(health.state() == HealthState::unhealthy);
  CHECK(turns(health, {kBad, kBad, kBad, kBad}) == 0);
}

TEST_CASE("rise successes in a row make it healthy again") {
  Health health(2, 1);
  REQUIRE(health.take(kBad) == HealthState::unhealthy);
  CHECK_FALSE(health.take(kGood));
  CHECK(health.against() == 1);
  CHECK(health.take(kGood) == HealthState::healthy);
  CHECK(health.against() == 0);
  CHECK(turns(health, {kGood, kGood, kGood}) == 0);
}

TEST_CASE("a success between failures begins the row anew, and a failure between successes") {
  Health health(3, 3);
  CHECK(turns(health, {kBad, kBad, kGood, kBad, kBad, kGood, kBad, kBad}) == 0);
  CHECK(health.state() == HealthState::healthy);
  REQUIRE(health.take(kBad) == HealthState::unhealthy);
  CHECK(turns(health, {kGood, kGood, kBad, kGood, kGood, kBad, kGood, kGood}) == 0);
  CHECK(health.state() == HealthState::unhealthy);
  CHECK(health.take(kGood) == HealthState::healthy);
}

TEST_CASE("a fault of ours neither counts nor breaks a row") {
  Health health(2, 2);
  CHECK(turns(health, {kOurs, kOurs, kOurs, kOurs}) == 0);
  CHECK(turns(health, {kBad, kOurs, kOurs}) == 0);
  CHECK(health.against() == 1);
  CHECK(health.take(kBad) == HealthState::unhealthy);
  CHECK(turns(health, {kGood, kOurs}) == 0);
  CHECK(health.take(kGood) == HealthState::healthy);
}

TEST_CASE("with rise and fall 1 every check decides") {
  Health health(1, 1);
  CHECK(turns(health, {kBad, kGood, kBad, kGood, kGood, kBad}) == 5);
}

TEST_CASE("HLT-01: first checks are spread over the interval, each backend in a share of its own") {
  constexpr std::size_t kBackends = 60;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<Duration> all = starts(kBackends, 600ms, seed);
    CHECK(all.front() >= 0ms);
    CHECK(all.back() < 600ms);
    // 10 ms for each: at most one share more than fit into 50 ms begin there, on either side.
    for (std::size_t i = 0; i + 7 < kBackends; ++i) CHECK(all[i + 7] - all[i] > 50ms);
  }
}

TEST_CASE("HLT-01: instances that start together check the same backend at different times") {
  std::vector<Duration> all;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const double turn = rng.unit();
    all.push_back(first_check(0, 60, 1000ms, turn, rng));
  }
  std::sort(all.begin(), all.end());
  CHECK(all.front() < 100ms);
  CHECK(all.back() > 900ms);
  for (std::size_t i = 0; i + 20 < all.size(); ++i) CHECK(all[i + 20] - all[i] > 50ms);
}

TEST_CASE("every state of health has a name of its own") {
  CHECK(name(HealthState::healthy) == "healthy");
  CHECK(name(HealthState::unhealthy) == "unhealthy");
}
