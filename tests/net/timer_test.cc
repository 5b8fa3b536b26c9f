#include "weir/net/timer.h"

#include <doctest/doctest.h>
#include <uv.h>

#include <chrono>
#include <memory>
#include <vector>

#include "tests/net/turning.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// When the libuv timers of a loop are due, in its milliseconds; only those that run.
std::vector<std::uint64_t> due(Loop& loop) {
  std::vector<std::uint64_t> found;
  uv_walk(
      loop.uv(),
      [](uv_handle_t* handle, void* into) {
        if (handle->type != UV_TIMER || uv_is_active(handle) == 0) return;
        static_cast<std::vector<std::uint64_t>*>(into)->push_back(
            uv_timer_get_due_in(reinterpret_cast<uv_timer_t*>(handle)));
      },
      &found);
  return found;
}

}  // namespace

TEST_CASE("a timer never fires early, whatever the fraction of a millisecond") {
  Loop loop;
  std::vector<std::unique_ptr<Timer>> timers;
  int fired = 0;
  const core::TimePoint start = loop.refresh_now();
  for (int i = 0; i < 40; ++i) {
    const core::TimePoint at = start + i * 337us + 1ns;
    timers.push_back(std::make_unique<Timer>(loop, [&fired, &loop, at] {
      CHECK(Clock::now() >= at);
      CHECK(loop.now() >= at);
      ++fired;
    }));
    timers.back()->arm(at);
  }
  CHECK(turn_until(loop, [&] { return fired == 40; }));
}

TEST_CASE("a timer that is due already fires in the next turn, not at once") {
  Loop loop;
  int fired = 0;
  Timer timer(loop, [&] { ++fired; });
  timer.arm(loop.now() - 1s);
  CHECK(fired == 0);
  CHECK(timer.armed());
  CHECK(turn_until(loop, [&] { return fired == 1; }));
  CHECK_FALSE(timer.armed());
}

TEST_CASE("moving a deadline later starts no libuv timer again") {
  Loop loop;
  Timer timer(loop, [] {});
  timer.arm(loop.now() + 10s);
  const auto before = due(loop);
  REQUIRE(before.size() == 1);
  for (int i = 1; i <= 100; ++i) timer.arm(loop.now() + 10s + i * 1s);
  CHECK(due(loop) == before);
  timer.arm(loop.now() + 5s);  // earlier is another matter
  REQUIRE(due(loop).size() == 1);
  CHECK(due(loop)[0] < before[0]);
}

TEST_CASE("a timer moved later fires once, at the later time") {
  Loop loop;
  int fired = 0;
  core::TimePoint at;
  Timer timer(loop, [&] {
    ++fired;
    CHECK(Clock::now() >= at);
  });
  timer.arm(loop.refresh_now() + 2ms);
  at = loop.now() + 30ms;
  timer.arm(at);
  CHECK(turn_until(loop, [&] { return fired > 0; }));
  turn_for(loop, 10ms);
  CHECK(fired == 1);
}

TEST_CASE("a timer moved earlier fires at the earlier time") {
  Loop loop;
  int fired = 0;
  Timer timer(loop, [&] { ++fired; });
  timer.arm(loop.refresh_now() + 1h);
  timer.arm(loop.now() + 3ms);
  CHECK(turn_until(loop, [&] { return fired == 1; }));
}

TEST_CASE("a cancelled timer does not fire, and may be armed again") {
  Loop loop;
  int fired = 0;
  Timer timer(loop, [&] { ++fired; });
  timer.arm(loop.refresh_now() + 2ms);
  timer.cancel();
  CHECK_FALSE(timer.armed());
  timer.arm(loop.now() + 2ms);
  timer.arm(core::kNever);  // the same as cancel
  CHECK_FALSE(timer.armed());
  CHECK(due(loop).empty());
  turn_for(loop, 8ms);
  CHECK(fired == 0);
  timer.arm(loop.now() + 1ms);
  CHECK(turn_until(loop, [&] { return fired == 1; }));
}

TEST_CASE("a timer armed again in its own callback fires again") {
  Loop loop;
  int fired = 0;
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(loop, [&] {
    if (++fired < 3) timer->arm(loop.now() + 1ms);
  });
  timer->arm(loop.now());
  CHECK(turn_until(loop, [&] { return fired == 3; }));
  CHECK_FALSE(timer->armed());
}

TEST_CASE("a timer that is due again whenever it fires leaves others their turn") {
  Loop loop;
  int fired = 0;
  bool posted = false;
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(loop, [&] {
    if (++fired < 100'000 && !posted) timer->arm(loop.now());
  });
  timer->arm(loop.now());
  loop.post([&] { posted = true; });
  CHECK(turn_until(loop, [&] { return posted; }));
  CHECK(fired < 100'000);
}

TEST_CASE("a timer may be destroyed by its own callback") {
  Loop loop;
  int fired = 0;
  std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(loop, [&] {
    ++fired;
    timer.reset();
  });
  timer->arm(loop.now());
  CHECK(turn_until(loop, [&] { return fired == 1; }));
  turn_for(loop, 5ms);
  CHECK(fired == 1);
}

TEST_CASE("a destroyed timer does not fire") {
  Loop loop;
  int fired = 0;
  {
    Timer timer(loop, [&] { ++fired; });
    timer.arm(loop.refresh_now() + 1ms);
  }
  turn_for(loop, 6ms);
  CHECK(fired == 0);
}
