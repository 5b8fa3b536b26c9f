#include "weir/core/smooth_round_robin.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "weir/core/random.h"

using namespace weir::core;

namespace {

std::vector<Candidate> candidates(const std::vector<std::uint32_t>& weights) {
  std::vector<Candidate> result;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) result.push_back({.index = i, .weight = weights[i], .active = 0});
  }
  return result;
}

std::vector<int> count(SmoothRoundRobin& turns, const std::vector<Candidate>& among, int picks) {
  std::vector<int> result(8, 0);
  for (int i = 0; i < picks; ++i) ++result.at(turns.pick(among));
  return result;
}

// How many choices in a row go to `index` from here on.
int run_of(SmoothRoundRobin& turns, const std::vector<Candidate>& among, std::size_t index) {
  int run = 0;
  while (run < 1000 && turns.pick(among) == index) ++run;
  return run;
}

}  // namespace

TEST_CASE("weights 5, 1, 1 are spread out instead of in bursts") {
  SmoothRoundRobin turns(3);
  const auto all = candidates({5, 1, 1});
  std::string order;
  for (int i = 0; i < 14; ++i) order += static_cast<char>('a' + turns.pick(all));
  CHECK(order == "aabacaaaabacaa");
}

TEST_CASE("over one cycle every backend is chosen exactly by its weight, whatever the weights") {
  Rng rng(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint32_t> weights(1 + rng.below(24));
    for (std::uint32_t& weight : weights) {
      weight = static_cast<std::uint32_t>(1 + rng.below(rng.below(2) == 0 ? 4 : 256));
    }
    const auto all = candidates(weights);
    SmoothRoundRobin turns(weights.size());
    std::vector<std::uint32_t> chosen(weights.size(), 0);
    const auto cycle = std::accumulate(weights.begin(), weights.end(), std::uint32_t{0});
    for (std::uint32_t i = 0; i < 2 * cycle; ++i) ++chosen[turns.pick(all)];
    for (std::uint32_t& times : chosen) times /= 2;
    REQUIRE(chosen == weights);
  }
}

TEST_CASE("a backend that comes back gets no burst, however long it was away") {
  for (int before = 0; before < 12; ++before) {
    CAPTURE(before);
    SmoothRoundRobin turns(3);
    const auto all = candidates({1, 1, 1});
    count(turns, all, before);
    count(turns, candidates({1, 1, 0}), 1000 + before);
    const std::vector<int> back = count(turns, all, 30);
    CHECK(*std::max_element(back.begin(), back.end()) <= 11);
    CHECK(*std::min_element(back.begin(), back.begin() + 3) >= 9);
  }
}

TEST_CASE("credit saved beside a heavy backend buys no burst beside a light one") {
  SmoothRoundRobin turns(3);
  // The light one saves while the heavy one is served, and then meets another light one.
  count(turns, candidates({1, 256, 0}), 120);
  const auto light = candidates({1, 0, 1});
  CHECK(run_of(turns, light, 0) <= 2);
  const std::vector<int> after = count(turns, light, 20);
  CHECK(after[0] >= 9);
  CHECK(after[2] >= 9);
}

TEST_CASE("a debt made beside heavy backends does not shut one out beside a light one") {
  SmoothRoundRobin turns(3);
  turns.pick(candidates({255, 256, 0}));  // the heavy one pays for both
  const auto two = candidates({0, 1, 1});
  CHECK(run_of(turns, two, 2) <= 3);
}

TEST_CASE("a light backend gets its share although one of the two is ineligible once in a while") {
  const auto both = candidates({1, 100});
  for (const auto& alone : {candidates({0, 100}), candidates({1, 0})}) {
    SmoothRoundRobin turns(2);
    int light = 0;
    for (int round = 0; round < 100; ++round) {
      for (int i = 0; i < 50; ++i) light += turns.pick(both) == 0 ? 1 : 0;
      turns.pick(alone);
    }
    CHECK(light >= 48);
    CHECK(light <= 51);
  }
}

TEST_CASE("those that are not admitted neither win nor earn") {
  SmoothRoundRobin turns(3);
  const auto all = candidates({1, 1, 1});
  for (int i = 0; i < 10; ++i) {
    CHECK(turns.pick_if(all, [](const Candidate& c) { return c.index != 1; }) != 1);
  }
  CHECK(count(turns, all, 3) == std::vector<int>{1, 1, 1, 0, 0, 0, 0, 0});
}
