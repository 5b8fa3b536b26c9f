#include "weir/core/random.h"

#include <doctest/doctest.h>

#include <array>

using namespace weir::core;

TEST_CASE("equal seeds give equal sequences, and the known one of SplitMix64") {
  Rng a(1234567);
  Rng b(1234567);
  CHECK(a.next() == 6457827717110365317ULL);
  CHECK(a.next() == 3203168211198807973ULL);
  CHECK(b.next() == 6457827717110365317ULL);
}

TEST_CASE("below stays below its bound, reaches every value and spreads evenly") {
  Rng rng(1);
  CHECK(rng.below(0) == 0);
  CHECK(rng.below(1) == 0);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70000; ++i) ++seen.at(rng.below(7));
  for (const int times : seen) {
    CHECK(times > 9500);
    CHECK(times < 10500);
  }
}

TEST_CASE("unit lies from 0 up to but not at 1") {
  Rng rng(2);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double value = rng.unit();
    REQUIRE(value >= 0.0);
    REQUIRE(value < 1.0);
    sum += value;
  }
  CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.02).scale(0));
}
