// Threads against one admission, each with several clients that it visits in turn, as a worker's
// loop does its sessions: none blocks, so a wait that never ends shows as a lack of progress.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "tests/core/queued_client.h"
#include "tests/core/race.h"
#include "weir/core/admission.h"

using namespace weir::core;
using Outcome = Admitted::Outcome;

namespace {

constexpr std::size_t kThreads = 4;

void check_at_rest(const Admission& admission) {
  CHECK(admission.snapshot().active == 0);
  CHECK(admission.snapshot().pending == 0);
}

}  // namespace

TEST_CASE("workers admit and release at the same time and nothing is left") {
  Admission admission;
  run_together(kThreads, [&](std::size_t) {
    for (std::size_t round = 0; round < 500000 / kScale; ++round) {
      Slot outer = admission.try_admit();
      const Slot inner = admission.try_admit();
      outer = Slot();
    }
  });
  check_at_rest(admission);
}

TEST_CASE("workers that claim the last slot at the same time never get more than the limit") {
  constexpr std::size_t kLimit = 3;
  Admission admission({.max_active = kLimit});
  std::atomic<std::size_t> inside{0};
  std::atomic<std::size_t> most{0};
  std::atomic<std::uint64_t> refused{0};
  run_together(kThreads, [&](std::size_t) {
    std::uint64_t turned_away = 0;
    for (std::size_t round = 0; round < 200000 / kScale; ++round) {
      std::array<Slot, 2> slots{admission.try_admit(), admission.try_admit()};
      const std::size_t mine = (slots[0] ? 1U : 0U) + (slots[1] ? 1U : 0U);
      turned_away += 2 - mine;
      const std::size_t now = inside.fetch_add(mine) + mine;
      if (now > most.load()) most = now;
      inside -= mine;
    }
    refused += turned_away;
  });
  CHECK(most <= kLimit);
  CHECK(admission.snapshot().rejected_as(CloseReason::proxy_overloaded) == refused);
  check_at_rest(admission);
}

TEST_CASE("what a session did with the only slot is done before the next one begins") {
  Admission admission({.max_active = 1});
  std::uint64_t sessions = 0;  // guarded by nothing but the slot
  std::atomic<std::uint64_t> granted{0};
  run_together(kThreads, [&](std::size_t) {
    for (std::size_t round = 0; round < 200000 / kScale; ++round) {
      const Slot slot = admission.try_admit();
      if (!slot) continue;
      ++sessions;
      ++granted;
    }
  });
  CHECK(sessions == granted);
  check_at_rest(admission);
}

namespace {

// Sessions that take turns at a single slot, whoever waits waiting without a bound.
struct Turns {
  Turns(std::size_t threads, std::size_t clients)
      : admission({.max_active = 1, .max_pending = static_cast<std::uint32_t>(threads * clients)}),
        clients_(clients) {}

  Admission admission;
  std::atomic<std::uint64_t> grants{0};  // to those who waited
  std::atomic<std::size_t> inside{0};
  std::atomic<std::size_t> crowded{0};  // times that two had the slot
  std::atomic<std::size_t> asleep{0};
  std::atomic<std::uint64_t> most_passed{0};  // grants between the place in the queue and one's own

  void run_thread(std::size_t rounds) {
    std::deque<Turn> turns;
    for (std::size_t i = 0; i < clients_; ++i) turns.emplace_back(*this);
    Progress progress;
    for (std::size_t begun = 0, over = 0; over < rounds;) {
      bool moved = false;
      for (Turn& turn : turns) {
        if (turn.has_slot) {
          turn.end();
          ++over;
        } else if (turn.client.waiting()) {
          if (!turn.client.decided()) continue;
          turn.take();
        } else if (begun < rounds) {
          turn.arrive();
          ++begun;
        } else {
          continue;
        }
        moved = true;
      }
      if (moved) {
        progress.made();
      } else if (progress.hopeless()) {
        ++asleep;
        return;
      }
    }
  }

 private:
  struct Turn {
    explicit Turn(Turns& of) : turns(of), client(of.admission) {
      client.with = this;
      client.when_decided = [](void* with) {
        Turn& turn = *static_cast<Turn*>(with);
        turn.granted_at = turn.turns.grants.fetch_add(1);
      };
    }

    void arrive() {
      if (client.arrive() == Outcome::parked) {
        parked_at = turns.grants;
      } else {
        begin();
      }
    }
    void take() {
      const std::uint64_t at = granted_at;
      const std::uint64_t passed = at > parked_at ? at - parked_at : 0;
      if (passed > turns.most_passed) turns.most_passed = passed;
      begin();
    }
    void begin() {
      has_slot = true;
      if (!client.served() || turns.inside.fetch_add(1) != 0) ++turns.crowded;
    }
    void end() {
      has_slot = false;
      --turns.inside;
      client.finish();
    }

    Turns& turns;
    bool has_slot = false;
    std::uint64_t parked_at = 0;  // the grants so far, once the place in the queue was certain
    std::atomic<std::uint64_t> granted_at{0};
    QueuedClient client;
  };

  std::size_t clients_;
};

void take_turns(std::size_t threads, std::size_t clients, std::size_t rounds) {
  CAPTURE(threads);
  CAPTURE(clients);
  Turns turns(threads, clients);
  run_together(threads, [&](std::size_t) { turns.run_thread(rounds / threads); });
  REQUIRE(turns.asleep == 0);
  CHECK(turns.crowded == 0);
  CHECK(turns.most_passed < threads * clients);
  check_at_rest(turns.admission);
}

}  // namespace

TEST_CASE("with one slot and no time limit nobody is left asleep as the last in the queue") {
  take_turns(2, 1, 1000000 / kScale);  // the queue empties and fills again all the time
  take_turns(3, 1, 100000 / kScale);
}

TEST_CASE("with one slot and many who wait nobody is left asleep, and nobody is overtaken") {
  take_turns(kThreads, 3, 200000 / kScale);
}

TEST_CASE("sessions that come, end and leave while the limits change keep every count") {
  constexpr std::size_t kClients = 6;  // of each thread
  constexpr std::size_t kSwaps = 2000 / kScale;
  const int generations[2] = {};
  Admission admission({.max_active = 4, .max_pending = 8});
  std::atomic<bool> over{false};
  std::atomic<std::size_t> asleep{0};
  std::atomic<std::uint64_t> refusals{0};  // as the clients have seen them
  std::size_t faults = 0;

  std::thread operates([&] {
    std::mt19937 random(1);
    for (std::size_t swap = 0; swap < kSwaps; ++swap) {
      const AdmissionLimits limits{static_cast<std::uint32_t>(1 + random() % 20),
                                   static_cast<std::uint32_t>(random() % 12)};
      admission.set_limits(limits);
      std::uint64_t most = ~std::uint64_t{0};
      for (int look = 0; look < 20; ++look) {
        const AdmissionSnapshot now = admission.snapshot();
        if (now.active > most) ++faults;  // the excess has grown
        most = std::max<std::uint64_t>(now.active, limits.max_active);
        if (now.pending > limits.max_pending) ++faults;
        if (now.pending > 0 && now.active < limits.max_active) ++faults;
        if (look % 5 == 0) std::this_thread::yield();
      }
      if (random() % 4 == 0) admission.retire(&generations[random() % 2]);
    }
    over = true;
  });

  run_together(kThreads, [&](std::size_t thread) {
    std::mt19937 random(static_cast<std::uint32_t>(100 + thread));
    std::deque<QueuedClient> clients;
    std::vector<bool> holds(kClients);
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.emplace_back(admission, &generations[i % 2]);
    }
    std::uint64_t refused = 0;
    std::size_t passes = 0;
    Progress progress;
    for (bool busy = true; busy;) {
      busy = false;
      bool moved = false;
      if (++passes % 16 == 0) std::this_thread::yield();
      for (std::size_t i = 0; i < kClients; ++i) {
        QueuedClient& client = clients[i];
        if (holds[i]) {
          busy = moved = true;
          if (random() % 2 == 0) continue;
          client.finish();
          holds[i] = false;
        } else if (client.waiting()) {
          busy = true;
          if (random() % 8 == 0) {
            client.leave(CloseReason::client_left_queue);
            ++refused;
          } else if (client.decided()) {
            holds[i] = client.served();
            if (!holds[i]) ++refused;
          } else {
            continue;
          }
          moved = true;
        } else if (!over) {
          busy = moved = true;
          const Outcome outcome = client.arrive();
          holds[i] = outcome == Outcome::granted;
          if (outcome == Outcome::refused) ++refused;
        }
      }
      if (moved) {
        progress.made();
      } else if (busy && progress.hopeless()) {
        ++asleep;
        break;
      }
    }
    refusals += refused;
  });
  operates.join();
  REQUIRE(asleep == 0);
  CHECK(faults == 0);
  const AdmissionSnapshot now = admission.snapshot();
  std::uint64_t counted = 0;
  for (const std::uint64_t count : now.rejected) counted += count;
  CHECK(counted == refusals);
  check_at_rest(admission);
}
