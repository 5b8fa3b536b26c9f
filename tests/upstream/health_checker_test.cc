#include "weir/upstream/health_checker.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/net/dns_server.h"
#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"
#include "tests/upstream/made_pool.h"
#include "weir/upstream/pool.h"

using namespace weir;
using namespace weir::net;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::CircuitPhase;
using core::DialOutcome;

namespace {

HealthOptions every(core::Duration interval, core::Duration timeout = 10s) {
  return {.interval = interval, .timeout = timeout, .rise = 2, .fall = 3};
}

PoolOptions checked(const std::vector<std::string>& addresses, const HealthOptions& health) {
  PoolOptions options = made_pool(addresses);
  options.health = health;
  options.resilience.circuit.enabled = true;
  options.resilience.circuit.fail_timeout = 1h;
  return options;
}

// The checks of one pool, on a loop turned by hand.
struct Story {
  explicit Story(const PoolOptions& options)
      : held_pool(std::make_shared<Pool>(options, 1)),
        checker(std::make_unique<HealthChecker>(loop, resolver, held_pool, 1)) {}

  HealthStatus status(std::size_t place = 0) const {
    return pool.backend(place).health()->status();
  }
  std::uint64_t ended(std::size_t place = 0) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : status(place).checks) sum += count;
    return sum;
  }
  std::uint64_t checks(DialOutcome outcome, std::size_t place = 0) const {
    return status(place).checks[static_cast<std::size_t>(outcome)];
  }
  bool healthy(std::size_t place = 0) const { return pool.backend(place).healthy(); }
  // So many more checks of the backend.
  void wait_for_checks(std::uint64_t more, std::size_t place = 0) {
    const std::uint64_t wanted = ended(place) + more;
    CHECK(turn_until(loop, [&] { return ended(place) >= wanted; }));
  }
  void wait_until_healthy(bool wanted, std::size_t place = 0) {
    CHECK(turn_until(loop, [&] { return healthy(place) == wanted; }));
  }

  Loop loop;
  DnsServer dns{loop};
  Resolver resolver{loop, {.servers = dns.address(), .tries = 1, .ttl_floor = 10ms}};
  std::shared_ptr<Pool> held_pool;
  Pool& pool = *held_pool;
  std::unique_ptr<HealthChecker> checker;
};

}  // namespace

TEST_CASE("a backend that accepts stays healthy") {
  Backlog a;
  Story story(checked({a.address().text()}, every(3ms)));
  story.wait_for_checks(10);
  CHECK(story.healthy());
  CHECK(story.checks(DialOutcome::connected) == story.ended());
}

TEST_CASE("a backend that stops listening is unhealthy after fall checks, and back after rise") {
  Refusing a;
  Story story(checked({a.address().text()}, every(3ms)));
  story.wait_until_healthy(false);
  CHECK(story.checks(DialOutcome::refused) == 3);
  REQUIRE(::listen(a.fd(), 64) == 0);
  story.wait_until_healthy(true);
  CHECK(story.checks(DialOutcome::connected) == 2);
}

TEST_CASE("checks count as neither dials nor sessions of the backend") {
  BlackHole a;
  Backlog b;
  Story story(checked({a.address().text(), b.address().text()}, every(3ms, 50ms)));
  story.wait_for_checks(3, 1);
  story.wait_for_checks(1, 0);
  for (const auto& backend : story.pool.backends()) {
    CHECK(backend->active() == 0);
    CHECK(backend->dialing() == 0);
    for (std::size_t i = 0; i < core::kDialOutcomes; ++i) {
      CHECK(backend->dials(static_cast<DialOutcome>(i)) == 0);
    }
  }
  CHECK(story.pool.admission().snapshot().active == 0);
}

TEST_CASE("a check that is not answered ends after timeout, and the next one begins after it") {
  BlackHole a;
  Story story(checked({a.address().text()}, every(5ms, 40ms)));
  const core::TimePoint start = story.loop.refresh_now();
  story.wait_for_checks(3);
  CHECK(story.loop.now() - start >= 120ms);  // one after the other, although interval is shorter
  CHECK(story.loop.now() - start < 3600ms);  // thirty times that: the timeout is what ended them
  CHECK(story.checks(DialOutcome::timeout) == 3);
  CHECK_FALSE(story.healthy());
}

TEST_CASE("checks are interval apart, from start to start, and a slow backend delays no other") {
  BlackHole slow;
  Backlog quick;
  Story story(checked({slow.address().text(), quick.address().text()}, every(20ms)));
  const core::TimePoint start = story.loop.refresh_now();
  while (story.ended(1) < 6) {
    story.wait_for_checks(1, 1);
    const auto before = static_cast<int>(story.ended(1)) - 1;
    CHECK(story.status(1).last_at - start >= 20ms * before);
  }
  CHECK(story.ended(0) == 0);
}

TEST_CASE("HLT-01: the first checks do not all come at the start") {
  Backlog one;
  Story story(checked(std::vector<std::string>(20, one.address().text()), every(200ms)));
  const core::TimePoint start = story.loop.refresh_now();
  for (std::size_t place = 0; place < 20; ++place) {
    if (story.ended(place) == 0) story.wait_for_checks(1, place);
  }
  CHECK(story.loop.now() - start >= 180ms);  // each has a share of 10 ms to itself
}

TEST_CASE("backends with weight 0 are checked too") {
  Refusing a;
  Backlog b;
  PoolOptions options = checked({a.address().text(), b.address().text()}, every(3ms));
  options.backends[0].weight = 0;
  Story story(options);
  story.wait_until_healthy(false, 0);
  CHECK(story.healthy(1));
}

TEST_CASE("a turn to healthy closes a circuit that dials have opened, steady health does not") {
  Refusing a;
  Backlog b;
  Story story(checked({a.address().text(), b.address().text()}, every(3ms)));
  const auto circuit = [&](std::size_t place) -> core::Circuit& {
    return story.pool.backend(place).circuit();
  };
  const core::TimePoint now = story.loop.refresh_now();
  for (const std::size_t place : {0U, 1U}) circuit(place).admit(now).fail(now);
  story.wait_until_healthy(false, 0);
  REQUIRE(::listen(a.fd(), 64) == 0);
  story.wait_until_healthy(true, 0);
  story.wait_for_checks(5, 1);
  CHECK(circuit(0).status(story.loop.now()).phase == CircuitPhase::closed);
  CHECK(circuit(1).status(story.loop.now()).phase == CircuitPhase::open);
}

TEST_CASE("a backend given by name is looked up for its checks, from the cache when that knows") {
  Backlog a;
  Story story(checked({"db.test:" + std::to_string(a.address().port())}, every(3ms)));
  story.dns.names["db.test"] = {{"127.0.0.1"}, {}};
  story.wait_for_checks(5);
  CHECK(story.checks(DialOutcome::connected) == story.ended());
  CHECK(story.dns.questions["db.test"] == 1);
}

TEST_CASE("a name that moves is checked where it is now") {
  Refusing old_place;
  Backlog new_place(loopback(old_place.address().port(), "127.0.0.2"));
  Story story(checked({"db.test:" + std::to_string(old_place.address().port())}, every(20ms)));
  story.dns.names["db.test"] = {{"127.0.0.1"}, {}, 0};
  story.wait_until_healthy(false);
  story.dns.names["db.test"] = {{"127.0.0.2"}, {}, 0};
  story.wait_until_healthy(true);
  CHECK(story.dns.questions["db.test"] >= 2);
}

TEST_CASE("a backend on a unix socket is checked") {
  ScratchFolder folder;
  const std::string path = folder.file("a");
  Story story(checked({"unix:" + path}, every(3ms)));
  story.wait_until_healthy(false);
  Backlog a(address_of("unix:" + path));
  story.wait_until_healthy(true);
}

TEST_CASE("checks come from the pool's source address, and not having it is no fault of theirs") {
  Backlog a;
  PoolOptions options = checked({a.address().text()}, every(3ms));
  options.source_address = core::parse_source_address("192.0.2.1").endpoint;
  Story story(options);
  story.wait_for_checks(10);
  CHECK(story.checks(DialOutcome::local_error) == story.ended());
  CHECK(story.healthy());
  CHECK_FALSE(a.somebody_waits());
}

TEST_CASE("without descriptors the checks decide nothing, and go on") {
  Refusing a;
  Story story(checked({a.address().text()}, every(3ms)));
  story.wait_for_checks(1);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  const std::uint64_t so_far = story.ended();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  while (story.ended() < so_far + 5) story.loop.run_once();
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(story.checks(DialOutcome::local_error) == 5);
  CHECK(story.healthy());
  story.wait_until_healthy(false);
}

TEST_CASE("checks that are stopped, whatever they were at, tell no more and leave nothing") {
  Backlog a;
  BlackHole silent;
  Story story(checked({a.address().text(), silent.address().text(), "slow.test:1"}, every(2ms)));
  story.dns.silent = true;
  story.wait_for_checks(3, 0);
  CHECK(turn_until(story.loop, [&] { return story.dns.questions["slow.test"] > 0; }));
  story.checker.reset();
  const std::uint64_t so_far = story.ended(0);
  turn_for(story.loop, 20ms);
  CHECK(story.ended(0) == so_far);
  CHECK(story.ended(1) == 0);
  CHECK(story.ended(2) == 0);
}

TEST_CASE("another interval holds for the wait that has begun") {
  Backlog a;
  PoolOptions options = checked({a.address().text()}, every(1h));
  Story story(options);
  options.health = every(3ms);
  const auto next = Pool::reload(story.held_pool, options, story.loop.refresh_now());
  story.checker->retune(next);
  story.wait_for_checks(5);
}

TEST_CASE("a longer interval holds from the next check on") {
  Backlog a;
  PoolOptions options = checked({a.address().text()}, every(3ms));
  Story story(options);
  story.wait_for_checks(3);
  options.health = every(1h);
  const auto next = Pool::reload(story.held_pool, options, story.loop.refresh_now());
  story.checker->retune(next);
  const std::uint64_t so_far = story.ended();
  turn_for(story.loop, 60ms);
  CHECK(story.ended() <= so_far + 1);
}

TEST_CASE("after a reload who is new is checked, and who is gone is not") {
  Backlog a;
  Refusing b;
  PoolOptions options = checked({a.address().text()}, every(3ms));
  Story story(options);
  story.wait_for_checks(3);
  const PoolOptions both = checked({a.address().text(), b.address().text()}, every(3ms));
  const auto second = Pool::reload(story.held_pool, both, story.loop.refresh_now());
  story.checker->retune(second);
  CHECK(turn_until(story.loop, [&] { return !second->backend(1).healthy(); }));
  story.wait_for_checks(3);
  options.backends = {both.backends[1]};
  const auto third = Pool::reload(second, options, story.loop.refresh_now());
  story.checker->retune(third);
  const std::uint64_t so_far = story.ended();
  turn_for(story.loop, 30ms);
  CHECK(story.ended() == so_far);
  REQUIRE(::listen(b.fd(), 64) == 0);
  CHECK(turn_until(story.loop, [&] { return third->backend(0).healthy(); }));
}

TEST_CASE("a check that is under way at a reload comes to its end, and counts") {
  BlackHole a;
  PoolOptions options = checked({a.address().text()}, every(3ms, 50ms));
  Story story(options);
  CHECK(turn_until(story.loop, [&] { return story.loop.refresh_now(), true; }));
  turn_for(story.loop, 20ms);  // it hangs
  options.health = every(3ms, 10s);
  const auto next = Pool::reload(story.held_pool, options, story.loop.refresh_now());
  story.checker->retune(next);
  story.wait_for_checks(1);
  CHECK(story.checks(DialOutcome::timeout) == 1);
}
