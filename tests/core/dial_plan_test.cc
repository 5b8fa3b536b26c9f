#include "weir/core/dial_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/core/allocations.h"

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{1000s};
constexpr DialResult kRefused{DialOutcome::refused};
constexpr DialResult kTimeout{DialOutcome::timeout};

// A plan with its clock and its randomness.
struct Story {
  explicit Story(const RetryOptions& options, Duration connect = 5s)
      : plan(options, connect, kStart) {}

  // One dial of the backend that fails `ms` later.
  DialStep fails(std::size_t backend, DialResult result = kRefused, int ms = 1,
                 Left left = Left::some) {
    plan.started(backend);
    now += std::chrono::milliseconds(ms);
    return plan.after(result, now, rng, left);
  }

  TimePoint now = kStart;
  Rng rng{1};
  DialPlan plan;
};

bool waits_at_least_100ms(const DialStep& step, TimePoint since) {
  return !step.give_up && step.at >= since + 100ms && step.at <= since + 150ms;
}

}  // namespace

TEST_CASE("with retries off there is one dial and no overall deadline") {
  Story story({.enabled = false, .attempts = 5, .deadline = 1s});
  CHECK(story.plan.dial_deadline(kStart) == kStart + 5s);
  CHECK(story.fails(0, kTimeout, 5000).give_up == CloseReason::upstream_timeout);
  CHECK(story.plan.dials() == 1);
}

TEST_CASE("attempts of 0 dial every eligible backend once, and end with the last dial's reason") {
  Story story({.attempts = 0});
  for (const std::size_t backend : {2U, 0U, 1U}) {
    const DialStep step = story.fails(backend, backend == 1 ? kTimeout : kRefused);
    CHECK_FALSE(step.give_up);
    CHECK(step.at <= story.now);
    CHECK(story.plan.excluded(backend));
  }
  CHECK_FALSE(story.plan.excluded(3));
  CHECK(story.plan.exhausted(story.now).give_up == CloseReason::upstream_timeout);
}

TEST_CASE("attempts of 2 make three dials at most") {
  Story story({.attempts = 2});
  CHECK_FALSE(story.fails(0).give_up);
  CHECK_FALSE(story.fails(1).give_up);
  CHECK(story.fails(2).give_up == CloseReason::upstream_connect_failed);
  CHECK(story.plan.dials() == 3);
}

TEST_CASE("a failure that another backend cannot cure ends the session at once") {
  const RetryOptions patient{.attempts = 10};
  CHECK(Story(patient).fails(0, {DialOutcome::tls_identity}).give_up ==
        CloseReason::upstream_tls_identity);
  CHECK(Story(patient).fails(0, {DialOutcome::first_byte_timeout}).give_up ==
        CloseReason::first_byte_timeout);
  CHECK(Story(patient).fails(0, {DialOutcome::closed_early}).give_up ==
        CloseReason::upstream_connect_failed);
  CHECK(Story(patient).fails(0, {DialOutcome::local_error}).give_up == CloseReason::local_error);
  CHECK(Story(patient).fails(0, {DialOutcome::cancelled}).give_up == CloseReason::client_closed);
}

TEST_CASE("without a local port towards one backend the next is dialled") {
  Story story({});
  CHECK_FALSE(story.fails(0, {DialOutcome::local_error, true}).give_up);
  CHECK(story.plan.last_reason() == CloseReason::local_error);
}

TEST_CASE(
    "with only excluded backends left and attempts to spare one is dialled again after 100 ms") {
  Story story({.attempts = 3});
  (void)story.fails(0);
  const TimePoint failed = story.now;
  const DialStep step = story.plan.exhausted(story.now);
  CHECK(waits_at_least_100ms(step, failed));
  CHECK_FALSE(story.plan.excluded(0));

  // So does every dial after that, whoever it goes to.
  story.now = step.at;
  CHECK(waits_at_least_100ms(story.fails(0), story.now));
  CHECK(story.plan.excluded(0));
  story.now += 200ms;
  CHECK(story.plan.exhausted(story.now).at <= story.now);
}

TEST_CASE("a look that finds only excluded backends lifts the exclusion in the same step") {
  Story story({.attempts = 1});
  CHECK(waits_at_least_100ms(story.fails(0, kRefused, 1, Left::only_excluded), story.now));
  CHECK_FALSE(story.plan.excluded(0));
  CHECK(story.fails(0, kRefused, 1, Left::only_excluded).give_up ==
        CloseReason::upstream_connect_failed);
}

TEST_CASE("a back-off longer than 100 ms counts when a backend is dialled again") {
  Duration longest{0};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Story story({.attempts = 1, .backoff_initial = 1s, .backoff_max = 1s});
    story.rng = Rng(seed);
    const DialStep step = story.fails(0, kRefused, 1, Left::only_excluded);
    REQUIRE(step.at >= story.now + 100ms);
    longest = std::max(longest, step.at - story.now);
  }
  CHECK(longest > 900ms);
  CHECK(longest <= 1s);
}

TEST_CASE("clients that failed together do not dial the same backend again together") {
  Story story({.attempts = 10});
  std::vector<Duration> waits;
  for (int i = 0; i < 10; ++i) {
    const DialStep step = story.fails(0, kRefused, 1, Left::only_excluded);
    if (step.give_up) break;
    waits.push_back(step.at - story.now);
    story.now = step.at;
  }
  std::sort(waits.begin(), waits.end());
  CHECK(waits.size() == 10);
  CHECK(std::unique(waits.begin(), waits.end()) == waits.end());
}

TEST_CASE("when no backend is eligible at all nothing is waited for") {
  Story story({.attempts = 3, .backoff_initial = 10s, .backoff_max = 10s});
  CHECK(story.fails(0, kRefused, 1, Left::none).give_up == CloseReason::upstream_connect_failed);
}

TEST_CASE("the back-off doubles from retry to retry, and one wait serves for the exclusion too") {
  Duration longest[4] = {};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Story story({.attempts = 4, .backoff_initial = 1s, .backoff_max = 4s});
    story.rng = Rng(seed);
    for (std::size_t i = 0; i < 4; ++i) {
      const DialStep step = story.fails(i);
      REQUIRE_FALSE(step.give_up);
      longest[i] = std::max(longest[i], step.at - story.now);
      story.now = std::max(step.at, story.now + 150ms);
    }
    REQUIRE(story.plan.exhausted(story.now).at <= story.now);
  }
  const Duration ceilings[] = {1s, 2s, 4s, 4s};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(longest[i] <= ceilings[i]);
    CHECK(longest[i] > ceilings[i] * 9 / 10);
  }
}

TEST_CASE("a dial has its own bound or what is left of the overall deadline") {
  Story story({.deadline = 7s}, 5s);
  CHECK(story.plan.dial_deadline(kStart) == kStart + 5s);
  CHECK(story.plan.dial_deadline(kStart + 4s) == kStart + 7s);
  CHECK(Story({}, 5s).plan.dial_deadline(kStart + 100s) == kStart + 105s);
}

TEST_CASE("a dial that the overall deadline cut short ends as retry_deadline_exhausted") {
  Story story({.deadline = 7s}, 5s);
  CHECK_FALSE(story.fails(0, kTimeout, 5000).give_up);
  CHECK(story.fails(1, kTimeout, 2000).give_up == CloseReason::retry_deadline_exhausted);

  // Without attempts to spare too, and when the timer fired a tick early.
  Story last({.attempts = 1, .deadline = 7s}, 5s);
  CHECK_FALSE(last.fails(0, kTimeout, 5000).give_up);
  last.now -= 1us;
  CHECK(last.fails(1, kTimeout, 2000).give_up == CloseReason::retry_deadline_exhausted);
}

TEST_CASE("a dial that timed out by itself with time left keeps its reason") {
  Story story({.attempts = 1, .deadline = 60s}, 5s);
  CHECK_FALSE(story.fails(0, kTimeout, 5000).give_up);
  CHECK(story.fails(1, kTimeout, 5000).give_up == CloseReason::upstream_timeout);
}

TEST_CASE("a back-off that would reach past the overall deadline is not waited out") {
  Story story({.attempts = 5, .deadline = 50ms});
  CHECK(story.fails(0, kRefused, 1, Left::only_excluded).give_up ==
        CloseReason::retry_deadline_exhausted);

  Story later({.attempts = 5, .deadline = 50ms});
  CHECK(later.fails(0, kRefused, 50).give_up == CloseReason::retry_deadline_exhausted);
}

TEST_CASE("a wait that lasted beyond the overall deadline is too late for another dial") {
  Story story({.deadline = 1s, .backoff_initial = 300ms});
  CHECK_FALSE(story.plan.too_late(kStart + 1h));  // nobody waited before the first
  const DialStep step = story.fails(0);
  REQUIRE_FALSE(step.give_up);
  CHECK_FALSE(story.plan.too_late(step.at));
  CHECK_FALSE(story.plan.too_late(kStart + 999ms));
  CHECK(story.plan.too_late(kStart + 1s));
  Story unbounded({.deadline = 0s});
  static_cast<void>(unbounded.fails(0));
  CHECK_FALSE(unbounded.plan.too_late(kStart + 1h));
}

TEST_CASE("a session that had no attempt to spare does not blame the deadline") {
  Story story({.attempts = 0, .deadline = 50ms});
  CHECK(story.fails(0, kRefused, 50, Left::none).give_up == CloseReason::upstream_connect_failed);
  Story spent({.attempts = 1, .deadline = 50ms});
  CHECK_FALSE(spent.fails(0).give_up);
  CHECK(spent.fails(1, kRefused, 49).give_up == CloseReason::upstream_connect_failed);
}

TEST_CASE("a plan for a pool of up to 64 backends does not allocate") {
  const std::uint64_t before = allocations();
  Story story({});
  for (std::size_t backend = 0; backend < 64; ++backend) (void)story.fails(backend);
  CHECK(story.plan.dials() == 64);
  CHECK(allocations() == before);
}

TEST_CASE("a pool of hundreds of backends is excluded one by one") {
  Story story({});
  for (std::size_t backend = 0; backend < 300; ++backend) {
    CHECK_FALSE(story.plan.excluded(backend));
    (void)story.fails(backend);
    CHECK(story.plan.excluded(backend));
  }
}

TEST_CASE("without a dial the reason is the most telling refusal") {
  CHECK(most_telling({.circuit = true, .capacity = true}) == CloseReason::circuit_open);
  CHECK(most_telling({.circuit = true, .capacity = false}) == CloseReason::circuit_open);
  CHECK(most_telling({.circuit = false, .capacity = true}) == CloseReason::backend_at_capacity);
  CHECK(most_telling({}) == CloseReason::upstream_unavailable);
}
