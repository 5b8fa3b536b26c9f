#include "weir/net/loop.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/net/turning.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

TEST_CASE(
    "tasks of other threads run on the loop's thread, each thread's in its order of posting") {
  Loop loop;
  std::vector<std::pair<int, int>> ran;
  const auto here = std::this_thread::get_id();
  bool elsewhere = false;
  const auto post_many = [&](int thread) {
    for (int i = 0; i < 500; ++i) {
      loop.post([&, thread, i] {
        ran.emplace_back(thread, i);
        elsewhere = elsewhere || std::this_thread::get_id() != here;
      });
    }
  };
  std::thread first(post_many, 0);
  std::thread second(post_many, 1);
  CHECK(turn_until(loop, [&] { return ran.size() == 1000; }));
  first.join();
  second.join();
  CHECK_FALSE(elsewhere);
  int expected[2] = {0, 0};
  for (const auto& [thread, i] : ran) CHECK(i == expected[thread]++);
}

TEST_CASE("a task posted by a task runs in a later turn") {
  Loop loop;
  int ran = 0;
  loop.post([&] {
    ++ran;
    loop.post([&] { ++ran; });
  });
  loop.run_once();
  CHECK(ran == 1);
  loop.run_once();
  CHECK(ran == 2);
}

TEST_CASE("run goes on until stop, and no task of a later turn runs") {
  Loop loop;
  int ran = 0;
  loop.post([&] {
    loop.stop();
    loop.post([&] { ran = 100; });
  });
  loop.post([&] { ++ran; });  // of the same turn
  loop.run();
  CHECK(ran == 1);
}

TEST_CASE("a task posted after the last turn is destroyed unrun with the loop") {
  const auto token = std::make_shared<int>(0);
  bool ran = false;
  {
    Loop loop;
    loop.run_once(false);
    loop.post([token, &ran] { ran = true; });
    CHECK(token.use_count() == 2);
  }
  CHECK_FALSE(ran);
  CHECK(token.use_count() == 1);
}

TEST_CASE("a turn without waiting comes back when there is nothing to do") {
  Loop loop;
  loop.run_once(false);
  loop.run_once(false);
}

TEST_CASE("now stands still within a batch and is read anew for the next one") {
  Loop loop;
  std::vector<core::TimePoint> seen;
  const auto look = [&] {
    seen.push_back(loop.now());
    const auto clock = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() < clock + 100us) {
    }
  };
  loop.post(look);
  loop.post(look);
  loop.run_once();
  loop.post(look);
  const core::TimePoint between = std::chrono::steady_clock::now();
  loop.run_once();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0] == seen[1]);
  CHECK(seen[2] >= between);
}

TEST_CASE("a loop on a thread of its own is stopped through the mailbox") {
  Loop loop;
  std::atomic<int> ran{0};
  std::thread thread([&] { loop.run(); });
  for (int i = 0; i < 100; ++i) loop.post([&] { ran.fetch_add(1); });
  loop.post([&] { loop.stop(); });
  thread.join();
  CHECK(ran.load() == 100);
}
