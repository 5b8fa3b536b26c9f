#include "weir/net/signals.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "tests/net/turning.h"

using namespace weir::net;
using namespace std::chrono_literals;

TEST_CASE("signals come as calls on the loop, each with its number") {
  Loop loop;
  std::vector<int> caught;
  const auto here = std::this_thread::get_id();
  const Signals signals(loop, {SIGUSR1, SIGUSR2}, [&](int number) {
    CHECK(std::this_thread::get_id() == here);
    caught.push_back(number);
  });
  ::kill(::getpid(), SIGUSR2);
  CHECK(turn_until(loop, [&] { return caught.size() == 1; }));
  ::kill(::getpid(), SIGUSR1);
  CHECK(turn_until(loop, [&] { return caught.size() == 2; }));
  CHECK(caught == std::vector<int>{SIGUSR2, SIGUSR1});
}

TEST_CASE("nothing is caught for one who has gone") {
  Loop loop;
  int first = 0;
  int second = 0;
  const Signals stays(loop, {SIGUSR1}, [&](int) { ++first; });
  {
    const Signals goes(loop, {SIGUSR1}, [&](int) { ++second; });
  }
  ::kill(::getpid(), SIGUSR1);
  CHECK(turn_until(loop, [&] { return first == 1; }));
  CHECK(second == 0);
}
