#include "weir/core/index_set.h"

#include <doctest/doctest.h>

#include "tests/core/allocations.h"

using namespace weir::core;

TEST_CASE("an index set holds exactly what was inserted, over every word boundary") {
  const std::size_t members[] = {0, 1, 63, 64, 127, 128, 1000};
  IndexSet set;
  for (const std::size_t index : members) set.insert(index);
  std::size_t found = 0;
  for (std::size_t index = 0; index < 2000; ++index) found += set.contains(index) ? 1U : 0U;
  CHECK(found == std::size(members));
  for (const std::size_t index : members) CHECK(set.contains(index));

  set.clear();
  for (std::size_t index = 0; index < 2000; ++index) REQUIRE_FALSE(set.contains(index));
}

TEST_CASE("a set for a pool of up to 64 backends does not allocate") {
  const std::uint64_t before = allocations();
  IndexSet set;
  for (std::size_t index = 0; index < 64; ++index) set.insert(index);
  CHECK(set.contains(63));
  CHECK_FALSE(set.contains(64));
  CHECK(allocations() == before);
}
