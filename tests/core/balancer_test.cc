#include "weir/core/balancer.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/core/allocations.h"

using namespace weir::core;

namespace {

constexpr Balance kAll[] = {Balance::round_robin, Balance::least_connections, Balance::random_two,
                            Balance::source_hash, Balance::first};

const std::vector<Member> kMembers = {
    {"a 10.0.0.1:1", 1}, {"b 10.0.0.2:1", 0}, {"c 10.0.0.3:1", 2}, {"d 10.0.0.4:1", 3}};

}  // namespace

TEST_CASE("no candidate, no choice") {
  Rng rng(1);
  for (const Balance policy : kAll) {
    CAPTURE(name(policy));
    CHECK_FALSE(Balancer(policy, kMembers).pick({}, 7, rng).has_value());
    CHECK_FALSE(Balancer(policy, {}).pick({}, 7, rng).has_value());
  }
}

TEST_CASE("every policy chooses among the candidates only, each of which it can reach") {
  const std::vector<Candidate> among = {{0, 1, 0}, {2, 2, 0}, {3, 3, 0}};
  for (const Balance policy : kAll) {
    CAPTURE(name(policy));
    Rng rng(2);
    Balancer balancer(policy, kMembers);
    std::vector<int> chosen(4, 0);
    for (int i = 0; i < 600; ++i) ++chosen.at(balancer.pick(among, rng.next(), rng).value());
    CHECK(chosen[1] == 0);
    if (policy == Balance::first) {
      CHECK(chosen[0] == 600);
      continue;
    }
    CHECK(chosen[0] == doctest::Approx(100).epsilon(0.3));
    CHECK(chosen[2] == doctest::Approx(200).epsilon(0.3));
    CHECK(chosen[3] == doctest::Approx(300).epsilon(0.3));
  }
}

TEST_CASE("round robin takes turns, and random two never takes the most loaded of three") {
  Rng rng(6);
  const std::vector<Candidate> among = {{0, 1, 0}, {2, 1, 9}, {3, 1, 0}};
  Balancer turns(Balance::round_robin, kMembers);
  Balancer two(Balance::random_two, kMembers);
  for (int i = 0; i < 30; ++i) {
    CHECK(turns.pick(among, 1, rng) == among[static_cast<std::size_t>(i % 3)].index);
    CHECK(two.pick(among, 1, rng) != 2);
  }
}

TEST_CASE("first chooses the lowest place that is a candidate, whatever its load") {
  Rng rng(3);
  Balancer balancer(Balance::first, kMembers);
  CHECK(balancer.pick(std::vector<Candidate>{{2, 2, 99}, {3, 3, 0}}, 1, rng) == 2);
}

TEST_CASE("least connections looks at the load, and source hash at the source only") {
  Rng rng(4);
  Balancer least(Balance::least_connections, kMembers);
  CHECK(least.pick(std::vector<Candidate>{{0, 1, 1}, {2, 2, 1}, {3, 3, 9}}, 1, rng) == 2);

  Balancer hash(Balance::source_hash, kMembers);
  const auto chosen = hash.pick(std::vector<Candidate>{{0, 1, 0}, {2, 2, 0}, {3, 3, 0}}, 42, rng);
  CHECK(hash.pick(std::vector<Candidate>{{0, 1, 9}, {2, 2, 9}, {3, 3, 9}}, 42, rng) == chosen);
}

TEST_CASE("choosing does not allocate") {
  const std::vector<Candidate> among = {{0, 1, 0}, {2, 2, 0}, {3, 3, 0}};
  for (const Balance policy : kAll) {
    CAPTURE(name(policy));
    Rng rng(5);
    Balancer balancer(policy, kMembers);
    const std::uint64_t before = allocations();
    for (int i = 0; i < 100; ++i) (void)balancer.pick(among, rng.next(), rng);
    CHECK(allocations() == before);
  }
}
