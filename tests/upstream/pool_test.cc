#include "weir/upstream/pool.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/upstream/made_pool.h"

using namespace weir;
using namespace weir::upstream;

namespace {

std::vector<core::Candidate> all_of(const Pool& pool, std::size_t tier) {
  std::vector<core::Candidate> candidates;
  const auto& places = pool.tiers()[tier].backends;
  for (std::size_t i = 0; i < places.size(); ++i) {
    candidates.push_back({i, pool.weight(places[i]), 0});
  }
  return candidates;
}

}  // namespace

TEST_CASE("a pool has its backends in the order of the file") {
  const Pool pool(made_pool(3), 1);
  CHECK(pool.size() == 3);
  CHECK(pool.backend(0).name() == "a");
  CHECK(pool.backend(2).name() == "c");
  CHECK(pool.backends().size() == 3);
  CHECK(pool.options().name == "orders");
}

TEST_CASE("backends of one priority are one tier, the lowest number first") {
  PoolOptions options = made_pool(5);
  for (const std::size_t second : {0U, 3U}) options.backends[second].priority = 7;
  options.backends[2].priority = 100;
  const Pool pool(options, 1);
  REQUIRE(pool.tiers().size() == 3);
  CHECK(pool.tiers()[0].priority == 0);
  CHECK(pool.tiers()[0].backends == std::vector<std::size_t>{1, 4});
  CHECK(pool.tiers()[1].priority == 7);
  CHECK(pool.tiers()[1].backends == std::vector<std::size_t>{0, 3});
  CHECK(pool.tiers()[2].backends == std::vector<std::size_t>{2});
}

TEST_CASE("each tier has a balancer of its own, which follows the weights") {
  PoolOptions options = made_pool(4);
  options.balance = core::Balance::round_robin;
  options.backends[0].weight = 3;
  options.backends[2].priority = options.backends[3].priority = 1;
  Pool pool(options, 1);
  core::Rng rng(1);
  std::vector<int> chosen(4);
  for (int i = 0; i < 40; ++i) {
    const auto first = pool.pick(0, all_of(pool, 0), 0, rng);
    REQUIRE(first);
    ++chosen[pool.tiers()[0].backends[*first]];
    const auto second = pool.pick(1, all_of(pool, 1), 0, rng);
    REQUIRE(second);
    ++chosen[pool.tiers()[1].backends[*second]];
  }
  CHECK(chosen == std::vector<int>{30, 10, 20, 20});
  CHECK_FALSE(pool.pick(0, {}, 0, rng));
}

TEST_CASE("a client hashes to the same backend on every instance with the same file") {
  PoolOptions options = made_pool(5);
  options.balance = core::Balance::source_hash;
  Pool one(options, 1);
  Pool other(options, 4);
  core::Rng rng(1);
  core::Rng different(99);
  for (std::uint64_t hash = 0; hash < 200; ++hash) {
    CHECK(one.pick(0, all_of(one, 0), hash * 7919, rng) ==
          other.pick(0, all_of(other, 0), hash * 7919, different));
  }
}

TEST_CASE("a pool's admission counts its sessions") {
  Pool pool(made_pool(1), 1);
  {
    const core::Slot slot = pool.admission().try_admit();
    CHECK(slot);
    CHECK(pool.admission().active() == 1);
  }
  CHECK(pool.admission().active() == 0);
}

TEST_CASE("what is random in a pool comes from its seed, a fresh one unless it is given") {
  PoolOptions options = made_pool(8);
  options.resilience.circuit = {.jitter = 1};
  const auto open_times = [](const Pool& pool) {
    std::vector<core::TimePoint> times;
    for (const auto& backend : pool.backends()) {
      backend->circuit().admit({}).fail({});
      times.push_back(backend->circuit().status({}).open_until);
    }
    return times;
  };
  const auto seven = open_times(Pool(options, 1, 7));
  CHECK(seven[0] != seven[1]);
  CHECK(seven == open_times(Pool(options, 1, 7)));
  CHECK(seven != open_times(Pool(options, 1, 8)));
  CHECK(open_times(Pool(options, 1)) != open_times(Pool(options, 1)));
}
