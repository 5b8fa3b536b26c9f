#include "weir/net/descriptor_budget.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "weir/net/descriptor.h"

using namespace weir::net;

TEST_CASE("the budget gives what is left, or nothing") {
  DescriptorBudget budget(5);
  CHECK(budget.take(3));
  CHECK_FALSE(budget.take(3));
  CHECK(budget.used() == 3);
  CHECK(budget.take(2));
  CHECK_FALSE(budget.take(1));
  budget.give_back(2);
  CHECK(budget.used() == 3);
  CHECK(budget.capacity() == 5);
}

TEST_CASE("a session's share is two descriptors, given back exactly once") {
  DescriptorBudget budget(5);
  {
    DescriptorShare one(budget);
    DescriptorShare other(budget);
    CHECK(one);
    CHECK(other);
    CHECK(budget.used() == 4);
    const DescriptorShare third(budget);
    CHECK_FALSE(third);  // one is left, and a session needs two
    DescriptorShare moved(std::move(one));
    CHECK_FALSE(one);
    CHECK(moved);
    moved = {};
    CHECK(budget.used() == 2);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE("the budget is exact whatever the number of threads") {
  constexpr std::size_t kCapacity = 7;
  DescriptorBudget budget(kCapacity);
  std::atomic<std::size_t> held{0};
  std::atomic<bool> exceeded{false};
  std::atomic<int> granted{0};
  const auto work = [&] {
    for (int i = 0; i < 20000; ++i) {
      const DescriptorShare share(budget);
      if (!share) continue;
      granted.fetch_add(1);
      if (held.fetch_add(2) + 2 > kCapacity) exceeded = true;
      held.fetch_sub(2);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(exceeded.load());
  CHECK(granted.load() > 0);
  CHECK(budget.used() == 0);
}

TEST_CASE("open descriptors are counted without the one that counting takes") {
  const std::size_t before = open_descriptors();
  CHECK(before >= 3);
  {
    const Descriptor one(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    const Descriptor two(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    CHECK(open_descriptors() == before + 2);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("the soft descriptor limit is raised to the hard one") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low{before.rlim_max / 2, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(raise_descriptor_limit() == before.rlim_max);
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("a smaller capacity takes nothing back, and gives nothing until it is kept") {
  DescriptorBudget budget(6);
  REQUIRE(budget.take(4));
  budget.set_capacity(3);
  CHECK(budget.capacity() == 3);
  CHECK(budget.used() == 4);
  CHECK_FALSE(budget.take(1));
  budget.give_back(2);
  CHECK_FALSE(budget.take(2));
  CHECK(budget.take(1));
  budget.set_capacity(5);
  CHECK(budget.take(2));
  CHECK_FALSE(budget.take(1));
}
