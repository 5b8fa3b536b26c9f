#include "weir/upstream/pool_state.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::DialOutcome;

namespace {

constexpr core::TimePoint kNow{1000s};

// The state of a pool of one backend.
struct Story {
  std::shared_ptr<Backend> make() { return state.make_backend(options.backends[0], options); }
  std::shared_ptr<Backend> take_back() { return state.take_back(options.backends[0]); }
  std::uint64_t past(DialOutcome outcome) const {
    return state.past().dials[static_cast<std::size_t>(outcome)];
  }

  PoolOptions options = made_pool(1);
  PoolState state{options, 1, 1, nullptr};
};

void count_a_dial(Backend& backend, DialOutcome outcome) {
  backend.dials(0)[static_cast<std::size_t>(outcome)].add();
}

}  // namespace

TEST_CASE("a backend that is removed without a session is forgotten at once, but for its totals") {
  Story story;
  auto backend = story.make();
  count_a_dial(*backend, DialOutcome::refused);
  backend->circuit().force_open(kNow);
  story.state.remove(backend, kNow);
  CHECK_FALSE(backend->takes_sessions());
  CHECK(story.state.removed().empty());
  CHECK(story.past(DialOutcome::refused) == 1);
  CHECK(story.state.past().transitions[static_cast<std::size_t>(core::CircuitPhase::open)] == 1);
  CHECK(story.take_back() == nullptr);
}

TEST_CASE("a backend that is removed with a session is kept until that ends") {
  Story story;
  auto backend = story.make();
  BackendLease session = backend->claim();
  story.state.remove(backend, kNow);
  CHECK_FALSE(backend->claim());
  CHECK(story.state.removed().size() == 1);
  CHECK(story.state.forget_deserted(kNow).empty());
  count_a_dial(*backend, DialOutcome::connected);  // what ends later counts
  CHECK(story.past(DialOutcome::connected) == 0);
  session = {};
  CHECK(story.state.forget_deserted(kNow) == std::vector<std::string>{"a"});
  CHECK(story.state.removed().empty());
  CHECK(story.past(DialOutcome::connected) == 1);
  CHECK(story.state.forget_deserted(kNow).empty());
  CHECK(story.past(DialOutcome::connected) == 1);
}

TEST_CASE("a removed backend whose client has left is kept until the dial has ended alone") {
  Story story;
  auto backend = story.make();
  BackendLease dial = backend->claim();
  CHECK(dial.go_alone());
  CHECK(backend->active() == 0);
  story.state.remove(backend, kNow);
  CHECK(story.state.forget_deserted(kNow).empty());
  dial = {};
  CHECK(story.state.forget_deserted(kNow).size() == 1);
}

TEST_CASE("a backend that comes back while it has a session is the same again") {
  Story story;
  auto backend = story.make();
  const BackendLease session = backend->claim();
  story.state.remove(backend, kNow);
  CHECK(story.take_back() == backend);
  CHECK(backend->takes_sessions());
  CHECK(backend->claim());
  CHECK(story.state.removed().empty());
  CHECK(story.take_back() == nullptr);
}

TEST_CASE("a backend that comes back without a session, or elsewhere, is not the one that left") {
  Story story;
  auto backend = story.make();
  BackendLease session = backend->claim();
  story.state.remove(backend, kNow);
  BackendOptions moved = story.options.backends[0];
  moved.address = core::parse_endpoint("127.0.0.1:9").endpoint;
  CHECK(story.state.take_back(moved) == nullptr);
  BackendOptions renamed = story.options.backends[0];
  renamed.name = "other";
  CHECK(story.state.take_back(renamed) == nullptr);
  session = {};
  CHECK(story.take_back() == nullptr);
  CHECK_FALSE(backend->takes_sessions());
  CHECK(story.state.forget_deserted(kNow).size() == 1);
}

TEST_CASE("what an operator has ordered holds for a backend that comes back") {
  Story story;
  auto backend = story.make();
  const BackendLease session = backend->claim();
  backend->set_duty({.disabled = true});
  story.state.remove(backend, kNow);
  CHECK(backend->duty().removed);
  CHECK(backend->duty().disabled);
  REQUIRE(story.take_back() == backend);
  CHECK_FALSE(backend->duty().removed);
  CHECK(backend->duty().disabled);
  CHECK_FALSE(backend->takes_sessions());
}

TEST_CASE("the state knows the pool in force, and does not keep it alive") {
  Story story;
  CHECK(story.state.current() == nullptr);
  {
    const auto pool = Pool::make(story.options, 1);
    CHECK(pool->state().current() == pool);
    story.state.set_current(pool);
    CHECK(story.state.current() == pool);
  }
  CHECK(story.state.current() == nullptr);
}
