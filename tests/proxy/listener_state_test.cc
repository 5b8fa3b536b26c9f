#include "weir/proxy/listener_state.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

using namespace weir;
using namespace weir::proxy;

namespace {

ListenerOptions limited_to(std::uint64_t connections) {
  ListenerOptions options;
  options.name = "orders";
  options.max_connections = connections;
  return options;
}

}  // namespace

TEST_CASE("a listener admits as many connections as it may, and none more until one ends") {
  ListenerState state(limited_to(2), 1);
  ConnectionGuard first = state.admit();
  const ConnectionGuard second = state.admit();
  CHECK(first);
  CHECK(second);
  CHECK_FALSE(state.admit());
  CHECK(state.connections() == 2);
  first = {};
  CHECK(state.connections() == 1);
  CHECK(state.admit());
}

TEST_CASE("without a limit nobody is refused, and a moved guard counts once") {
  ListenerState state(limited_to(0), 1);
  {
    std::vector<ConnectionGuard> guards;
    for (int i = 0; i < 1000; ++i) guards.push_back(state.admit());
    CHECK(state.connections() == 1000);
    ConnectionGuard moved(std::move(guards[0]));
    CHECK_FALSE(guards[0]);
    CHECK(state.connections() == 1000);
  }
  CHECK(state.connections() == 0);
}

TEST_CASE("the limit of a listener is exact whatever the number of workers") {
  constexpr std::uint64_t kLimit = 3;
  ListenerState state(limited_to(kLimit), 4);
  std::atomic<std::uint64_t> held{0};
  std::atomic<bool> exceeded{false};
  std::atomic<int> granted{0};
  const auto work = [&] {
    for (int i = 0; i < 20000; ++i) {
      const ConnectionGuard guard = state.admit();
      if (!guard) continue;
      granted.fetch_add(1);
      if (held.fetch_add(1) + 1 > kLimit) exceeded = true;
      held.fetch_sub(1);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(exceeded.load());
  CHECK(granted.load() > 0);
  CHECK(state.connections() == 0);
}

TEST_CASE("totals are kept per worker") {
  ListenerState state(limited_to(0), 2);
  state.totals(0).accepted.add();
  state.totals(1).accepted.add(2);
  CHECK(std::as_const(state).totals(0).accepted.value() == 1);
  CHECK(std::as_const(state).totals(1).accepted.value() == 2);
  CHECK(state.workers() == 2);
  CHECK(state.name() == "orders");
}
