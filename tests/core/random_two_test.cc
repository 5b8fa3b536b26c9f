#include "weir/core/random_two.h"

#include <doctest/doctest.h>

#include <vector>

using namespace weir::core;

namespace {

std::vector<int> count(const std::vector<Candidate>& among, int picks) {
  Rng rng(5);
  const RandomTwo balancer;
  std::vector<int> chosen(8, 0);
  for (int i = 0; i < picks; ++i) ++chosen.at(balancer.pick(among, rng));
  return chosen;
}

}  // namespace

TEST_CASE("the only candidate is chosen") { CHECK(count({{4, 3, 9}}, 10)[4] == 10); }

TEST_CASE("two different backends are drawn, so the most loaded one is never chosen") {
  const std::vector<int> chosen = count({{0, 1, 5}, {1, 1, 9}, {2, 1, 5}}, 3000);
  CHECK(chosen[1] == 0);
  CHECK(chosen[0] > 1300);
  CHECK(chosen[2] > 1300);
}

TEST_CASE("of the two the less loaded for its weight wins") {
  // 6/3 carries less than 3/1.
  const std::vector<int> chosen = count({{0, 1, 3}, {1, 3, 6}}, 100);
  CHECK(chosen[1] == 100);
}

TEST_CASE("the draw follows the weights") {
  const std::vector<int> chosen = count({{0, 1, 0}, {1, 2, 0}, {2, 5, 0}}, 8000);
  CHECK(chosen[0] == doctest::Approx(1000).epsilon(0.1));
  CHECK(chosen[1] == doctest::Approx(2000).epsilon(0.1));
  CHECK(chosen[2] == doctest::Approx(5000).epsilon(0.1));
}

TEST_CASE("sessions that stay even out") {
  Rng rng(9);
  const RandomTwo balancer;
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < 10; ++i) all.push_back({i, 1, 0});
  for (int i = 0; i < 10000; ++i) ++all[balancer.pick(all, rng)].active;
  for (const Candidate& one : all) {
    CHECK(one.active > 985);
    CHECK(one.active < 1015);
  }
}
