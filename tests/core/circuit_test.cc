#include "weir/core/circuit.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

using namespace weir::core;

static_assert(!std::is_copy_constructible_v<Permit> && !std::is_copy_assignable_v<Permit>);
static_assert(std::is_nothrow_move_constructible_v<Permit>);

TEST_CASE("every dial is permitted, whatever became of those before") {
  Circuit circuit;
  const TimePoint now{};
  for (int i = 0; i < 10; ++i) {
    REQUIRE(circuit.eligible(now));
    Permit permit = circuit.admit(now);
    REQUIRE(permit);
    permit.fail();
  }
  CHECK(circuit.eligible(now));
}

TEST_CASE("a permit ends with its verdict") {
  Circuit circuit;
  Permit succeeded = circuit.admit(TimePoint{});
  succeeded.succeed();
  CHECK_FALSE(succeeded);
  Permit failed = circuit.admit(TimePoint{});
  failed.fail();
  CHECK_FALSE(failed);
}

TEST_CASE("a permit that moves leaves nothing behind to pass a second verdict with") {
  Circuit circuit;
  Permit first = circuit.admit(TimePoint{});
  Permit second(std::move(first));
  CHECK_FALSE(first);
  CHECK(second);
  first = std::move(second);
  CHECK(first);
  CHECK_FALSE(second);
}
