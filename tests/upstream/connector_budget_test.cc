#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/net/scratch_folder.h"
#include "tests/upstream/dial_story.h"

// What a pool's retry budget lets one client's connector do.
using namespace weir;
using namespace weir::net;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;

namespace {

// Backends at paths that do not exist, so that each is refused at once; 1 percent of one client is
// nothing, which leaves the three retries that every pool has.
PoolOptions tight_pool(const ScratchFolder& folder, int missing) {
  std::vector<std::string> addresses;
  for (int i = 0; i < missing; ++i) {
    addresses.push_back("unix:" + folder.file("missing" + std::to_string(i)));
  }
  PoolOptions options = made_pool(addresses);
  options.resilience.retry_budget_percent = 1;
  return options;
}

int retries_left(DialStory& story) {
  int left = 0;
  while (story.pool.retry_budget().try_retry(story.loop.now())) ++left;
  return left;
}

}  // namespace

TEST_CASE("a client that the budget refuses a further dial ends as retry_budget_exhausted") {
  const ScratchFolder folder;
  DialStory story(tight_pool(folder, 6));
  story.run();
  CHECK(story.reason == CloseReason::retry_budget_exhausted);
  CHECK(story.attempts == Attempts{"a refused", "b refused", "c refused", "d refused"});
  CHECK(story.pool.retries(DialOutcome::refused) == 3);
  CHECK(story.pool.retries_denied() == 1);
  // Whom it did not reach knows nothing of it.
  CHECK(story.count(4, DialOutcome::refused) == 0);
  CHECK(story.at_rest());
  CHECK_FALSE(story.timer.armed());
}

TEST_CASE("each connection's first dial adds to the budget, its further ones are counted") {
  const ScratchFolder folder;
  PoolOptions options = tight_pool(folder, 6);
  options.resilience.retry_budget_percent = 100;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::retry_budget_exhausted);
  CHECK(story.attempts.size() == 5);  // one more for the connection itself
  CHECK(story.pool.retries(DialOutcome::refused) == 4);
}

TEST_CASE("without a budget nothing is denied, and retries are counted all the same") {
  const ScratchFolder folder;
  PoolOptions options = tight_pool(folder, 6);
  options.resilience.retry_budget_percent = 0;
  DialStory story(options);
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts.size() == 6);
  CHECK(story.pool.retries(DialOutcome::refused) == 5);
  CHECK(story.pool.retries_denied() == 0);
}

TEST_CASE("when nobody is left to dial the budget is not asked") {
  const ScratchFolder folder;
  DialStory story(tight_pool(folder, 3));
  story.run();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(retries_left(story) == 1);
  CHECK(story.pool.retries_denied() == 0);
}

TEST_CASE("a retry that finds nobody to dial after its wait is not charged") {
  const ScratchFolder folder;
  PoolOptions options = tight_pool(folder, 2);
  options.resilience.retry.backoff_initial = options.resilience.retry.backoff_max = 20ms;
  options.backends[1].max_active = 1;
  DialStory story(options);
  story.start();
  REQUIRE(story.timer.armed());
  const BackendLease taken = story.pool.backend(1).claim();
  story.finish();
  CHECK(story.reason == CloseReason::upstream_connect_failed);
  CHECK(story.attempts == Attempts{"a refused"});
  CHECK(retries_left(story) == 3);
}

TEST_CASE("a client that the budget refuses takes no backend's probe") {
  const ScratchFolder folder;
  PoolOptions options = tight_pool(folder, 5);
  options.resilience.circuit = {.enabled = true, .max_fails = 100, .fail_timeout = 1ms};
  DialStory story(options);
  core::Circuit& last = story.pool.backend(4).circuit();
  const core::TimePoint long_ago = story.loop.now() - 1s;
  for (int i = 0; i < 100; ++i) last.admit(long_ago).fail(long_ago);
  story.run();
  CHECK(story.reason == CloseReason::retry_budget_exhausted);
  const core::CircuitStatus status = last.status(story.loop.now());
  CHECK(status.phase == core::CircuitPhase::open);
  CHECK(status.probe_due);
}

TEST_CASE("a budget that is refilled during the wait lets the dial happen") {
  const ScratchFolder folder;
  PoolOptions options = tight_pool(folder, 2);
  options.resilience.retry.backoff_initial = options.resilience.retry.backoff_max = 20ms;
  DialStory story(options);
  CHECK(retries_left(story) == 3);
  story.start();
  REQUIRE(story.timer.armed());
  story.pool.retry_budget().set_percent(100);
  story.finish();
  CHECK(story.attempts == Attempts{"a refused", "b refused"});
}
