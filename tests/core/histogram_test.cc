#include "weir/core/histogram.h"

#include <doctest/doctest.h>

using namespace weir::core;
using namespace std::chrono_literals;

TEST_CASE("a time is counted up to the bound that it does not exceed") {
  Histogram histogram;
  for (std::size_t i = 0; i < kHistogramBounds.size(); ++i) {
    histogram.add(kHistogramBounds[i]);
    histogram.add(kHistogramBounds[i] + 1ns);
  }
  const HistogramCounts counts = histogram.counts();
  CHECK(counts.counts.front() == 1);
  for (std::size_t i = 1; i < kHistogramBounds.size(); ++i) CHECK(counts.counts[i] == 2);
  CHECK(counts.counts.back() == 1);
  CHECK(counts.total() == 2 * kHistogramBounds.size());
}

TEST_CASE("the sum is in whole microseconds, and a clock that stepped back adds nothing") {
  Histogram histogram;
  histogram.add(1500us);
  histogram.add(2ms);
  histogram.add(-5s);
  CHECK(histogram.counts().microseconds == 3500);
  CHECK(histogram.counts().counts.front() == 1);
}

TEST_CASE("bounds ascend, each at most four times the one before") {
  for (std::size_t i = 1; i < kHistogramBounds.size(); ++i) {
    CHECK(kHistogramBounds[i] > kHistogramBounds[i - 1]);
    CHECK(kHistogramBounds[i] <= kHistogramBounds[i - 1] * 4);
  }
}

TEST_CASE("counts of several threads add up") {
  Histogram one;
  Histogram other;
  one.add(1ms);
  other.add(1ms);
  other.add(2s);
  HistogramCounts sum = one.counts();
  sum.add(other.counts());
  CHECK(sum.total() == 3);
  CHECK(sum.microseconds == 2'002'000);
}
