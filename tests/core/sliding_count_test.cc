#include "weir/core/sliding_count.h"

#include <doctest/doctest.h>

using weir::core::SlidingCount;

TEST_CASE("a sliding count forgets a slice when as many have begun after it as it has room for") {
  SlidingCount<3> events;
  events.add(100);
  events.add(100);
  events.add(101);
  CHECK(events.count(102) == 3);
  CHECK(events.count(103) == 1);
  CHECK(events.count(104) == 0);
}

TEST_CASE("a sliding count starts anew after a long silence") {
  SlidingCount<3> events;
  for (const std::int64_t slice : {7, 8, 9}) events.add(slice);
  CHECK(events.count(1'000'000) == 0);
  events.add(1'000'000);
  CHECK(events.count(1'000'002) == 1);
}

TEST_CASE("in a sliding count an event of a clock that is behind is one of the newest slice") {
  SlidingCount<3> events;
  events.add(50);
  events.add(10);
  CHECK(events.count(11) == 2);
  CHECK(events.count(52) == 2);
  CHECK(events.count(53) == 0);
}
