#include "weir/core/time.h"

#include <doctest/doctest.h>

using namespace weir::core;
using namespace std::chrono_literals;

TEST_CASE("a bound of 0 is no deadline, any other counts from the start") {
  const TimePoint start(5s);
  CHECK(deadline(start, 0s) == kNever);
  CHECK(deadline(start, 3s) == TimePoint(8s));
}

TEST_CASE("a span is told in seconds, as short as it can be") {
  CHECK(seconds_text(std::chrono::seconds(10)) == "10 s");
  CHECK(seconds_text(std::chrono::milliseconds(250)) == "0.25 s");
}
