#include "weir/core/least_connections.h"

#include <doctest/doctest.h>

#include <vector>

using namespace weir::core;

TEST_CASE("the backend with the fewest sessions for its weight is chosen") {
  LeastConnections balancer(3);
  CHECK(balancer.pick(std::vector<Candidate>{{0, 1, 4}, {1, 1, 3}, {2, 1, 5}}) == 1);
  CHECK(balancer.pick(std::vector<Candidate>{{0, 1, 3}, {1, 4, 11}, {2, 2, 6}}) == 1);
  // 1/3 and 2/7 differ only where no digit is rounded away.
  CHECK(balancer.pick(std::vector<Candidate>{{0, 3, 1'000'000'001}, {1, 3, 1'000'000'000}}) == 1);
}

TEST_CASE("loads beyond 32 bits are compared without overflow") {
  LeastConnections balancer(2);
  const std::uint32_t most = 4'000'000'000;
  CHECK(balancer.pick(std::vector<Candidate>{{0, 255, most}, {1, 256, most}}) == 1);
  CHECK(balancer.pick(std::vector<Candidate>{{0, 256, most}, {1, 255, most}}) == 0);
}

TEST_CASE("equally loaded backends take turns") {
  LeastConnections balancer(3);
  std::vector<int> chosen(3, 0);
  for (int i = 0; i < 30; ++i) {
    ++chosen[balancer.pick(std::vector<Candidate>{{0, 1, 2}, {1, 1, 2}, {2, 1, 2}})];
  }
  CHECK(chosen == std::vector<int>{10, 10, 10});
}

TEST_CASE("an idle pool follows the weights, and the light backend is not left out") {
  LeastConnections balancer(2);
  std::vector<int> chosen(2, 0);
  for (int i = 0; i < 40; ++i) {
    ++chosen[balancer.pick(std::vector<Candidate>{{0, 3, 0}, {1, 1, 0}})];
  }
  CHECK(chosen == std::vector<int>{30, 10});
}

TEST_CASE("sessions that stay fill the backends in proportion to their weights") {
  LeastConnections balancer(3);
  std::vector<Candidate> all = {{0, 1, 0}, {1, 2, 0}, {2, 5, 0}};
  for (int i = 0; i < 80; ++i) ++all[balancer.pick(all)].active;
  CHECK(all[0].active == 10);
  CHECK(all[1].active == 20);
  CHECK(all[2].active == 50);
}

TEST_CASE("the places are those of the members, whatever is missing among the candidates") {
  LeastConnections balancer(8);
  CHECK(balancer.pick(std::vector<Candidate>{{3, 1, 1}, {7, 1, 0}}) == 7);
}
