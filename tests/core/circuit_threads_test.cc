#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/circuit_story.h"
#include "tests/core/sanitizer.h"
#include "weir/core/random.h"

using namespace weir::core;
using namespace std::chrono_literals;

namespace {

// Contenders that all ask at once, some of them several times where threads are dear.
constexpr int kContenders = 1000;
constexpr int kThreads = kThreadSanitizer ? 64 : kContenders;

// Everybody asks at the instant of expiry and keeps what it gets. How many got a permit.
int contend(CircuitStory& story) {
  std::latch start(kThreads);
  std::vector<std::vector<Permit>> kept(kThreads);
  std::vector<std::thread> threads;
  for (std::vector<Permit>& mine : kept) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int tries = 0; tries < (kContenders + kThreads - 1) / kThreads; ++tries) {
        if (!story.circuit.eligible(story.now)) continue;
        if (Permit permit = story.circuit.admit(story.now)) mine.push_back(std::move(permit));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int admitted = 0;
  for (const std::vector<Permit>& mine : kept) admitted += static_cast<int>(mine.size());
  CHECK(story.status().probes_in_flight == static_cast<std::uint32_t>(admitted));
  return admitted;
}

}  // namespace

TEST_CASE("of 1000 contenders at the instant of expiry exactly as many probe as may") {
  for (const std::uint32_t allowed : {1U, 3U, 100U}) {
    CAPTURE(allowed);
    CircuitStory story({.half_open_probes = allowed});
    story.trip_until_probe_due();
    CHECK(contend(story) == static_cast<int>(allowed));
  }
}

TEST_CASE("of 1000 contenders at the instant of expiry all probe when nothing bounds them") {
  CircuitStory story({.half_open_probes = 0});
  story.trip_until_probe_due();
  CHECK(contend(story) >= kContenders);
}

TEST_CASE("round after round of expiry admits exactly as many, though old probes still end") {
  constexpr int kWorkers = 16;
  constexpr int kTries = 8;
  constexpr std::uint32_t kAllowed = 3;
  const int rounds = kThreadSanitizer ? 500 : 1000;
  CircuitStory story({.fail_timeout = 10s, .half_open_probes = kAllowed});
  story.trip_until_probe_due();

  std::atomic<int> admitted{0};
  std::atomic<int> wrong_rounds{0};
  // Between two rounds the probes are left hanging until half-open and the open time are over.
  std::barrier round(kWorkers, [&]() noexcept {
    if (admitted.exchange(0) != static_cast<int>(kAllowed)) ++wrong_rounds;
    story.now += 20s;
  });
  std::vector<std::thread> workers;
  for (std::uint64_t worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      Rng rng(worker);
      std::vector<Permit> old;
      for (int i = 0; i < rounds; ++i) {
        std::vector<Permit> mine;
        for (int tries = 0; tries < kTries; ++tries) {
          if (!old.empty()) {
            const std::uint64_t end = rng.below(3);
            if (end == 0) old.back().succeed(story.now);
            if (end == 1) old.back().fail(story.now);
            old.pop_back();
          }
          if (Permit permit = story.circuit.admit(story.now)) mine.push_back(std::move(permit));
        }
        admitted += static_cast<int>(mine.size());
        old = std::move(mine);
        round.arrive_and_wait();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(wrong_rounds == 0);
}

TEST_CASE("whatever threads do at once, the probes stay within their number and all come back") {
  constexpr std::uint32_t kAllowed = 3;
  constexpr int kWorkers = 8;
  const int steps = kThreadSanitizer ? 20'000 : 50'000;
  const CircuitOptions options{
      .max_fails = 2, .fail_timeout = 1us, .half_open_probes = kAllowed, .window = 20us};
  CircuitStory story(options);
  const TimePoint start = story.now;
  std::atomic<std::int64_t> clock{0};
  std::atomic<int> too_many{0};
  std::vector<std::thread> threads;
  for (std::uint64_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, worker] {
      Rng rng(worker);
      for (int i = 0; i < steps; ++i) {
        const TimePoint now = start + Duration(clock.fetch_add(20));
        switch (rng.below(200)) {
          case 0:
            story.circuit.force_open(now);
            break;
          case 1:
            story.circuit.close(now);
            break;
          case 2:
            story.circuit.bypass();
            break;
          case 3:
          case 4:
            story.circuit.recovered(now);
            break;
          case 5:
            story.circuit.set_options(options, now);
            break;
          default:
            if (rng.below(8) == 0) story.circuit.automatic(now);
        }
        Permit permit = story.circuit.admit(now);
        if (story.circuit.status(now).probes_in_flight > kAllowed) ++too_many;
        if (!permit) continue;
        const std::uint64_t end = rng.below(3);
        if (end == 0) permit.succeed(now);
        if (end == 1) permit.fail(now);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(too_many == 0);
  const CircuitStatus status = story.circuit.status(start + Duration(clock.load()));
  CHECK(status.probes_in_flight == 0);
  CHECK(status.epoch == 1 + status.transitions[0] + status.transitions[1] + status.transitions[2]);
  CHECK(story.log.told.size() + 1 == status.epoch);
  CHECK(status.transitions[2] > 100);  // it did go round
}

// Of the gate's place in the order of a change this is all that can be seen from outside: the rest
// changes under the mutex, which whoever would look for it has to wait for.
TEST_CASE("the gate is shut before a trip is told, and opens after a close is told") {
  // While it is told something, another thread asks for a permit: that one waits for the mutex,
  // which the teller holds; through an open gate it would not.
  struct Asks : CircuitObserver {
    void on_transition(const Transition& /*transition*/) override {
      answer = std::async(std::launch::async, [this] { (void)circuit->admit(TimePoint{}); });
      waited = answer.wait_for(30ms) == std::future_status::timeout;
    }
    bool answered_later() {
      answer.get();
      return std::exchange(waited, false);
    }

    Circuit* circuit = nullptr;
    std::future<void> answer;
    bool waited = false;
  };
  Asks observer;
  Circuit circuit({.fail_timeout = 10s}, 1, &observer);
  observer.circuit = &circuit;
  circuit.admit(TimePoint{}).fail(TimePoint{});
  CHECK(observer.answered_later());
  Permit probe = circuit.admit(TimePoint{10s});
  CHECK(observer.answered_later());
  probe.succeed(TimePoint{10s});
  CHECK(observer.answered_later());
}
