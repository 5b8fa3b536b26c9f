// Slots that another process has, which drains.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <vector>

#include "tests/core/queued_client.h"
#include "tests/core/race.h"
#include "weir/core/admission.h"

using namespace weir::core;
using Outcome = Admitted::Outcome;

TEST_CASE("of 5 slots with 2 taken elsewhere 3 are granted, and the snapshot says 5") {
  Admission admission({.max_active = 5});
  admission.set_taken_elsewhere(2);
  std::vector<Slot> slots;
  for (int i = 0; i < 3; ++i) CHECK(slots.emplace_back(admission.try_admit()));
  CHECK_FALSE(admission.try_admit());
  CHECK(admission.snapshot().max_active == 5);
  CHECK(admission.active() == 3);
}

TEST_CASE("when all slots are taken elsewhere, or more than there are, nobody is admitted") {
  for (const std::uint32_t elsewhere : {5u, 6u, UINT32_MAX}) {
    Admission admission({.max_active = 5, .max_pending = 1});
    admission.set_taken_elsewhere(elsewhere);
    CHECK_FALSE(admission.try_admit());
    QueuedClient client(admission);
    CHECK(client.arrive() == Outcome::parked);
    admission.set_taken_elsewhere(0);
    CHECK(client.served());
  }
}

TEST_CASE("without a limit it does not matter what is taken elsewhere") {
  Admission admission;
  admission.set_taken_elsewhere(UINT32_MAX);
  CHECK(admission.try_admit());
}

TEST_CASE("as slots elsewhere become free, waiters are granted in order, one for each") {
  Admission admission({.max_active = 3, .max_pending = 5});
  admission.set_taken_elsewhere(3);
  std::deque<QueuedClient> clients;
  for (int i = 0; i < 4; ++i) CHECK(clients.emplace_back(admission).arrive() == Outcome::parked);
  for (std::uint32_t left = 3; left > 0;) {
    admission.set_taken_elsewhere(--left);
    for (std::size_t i = 0; i < clients.size(); ++i) CHECK(clients[i].decided() == (i < 3 - left));
  }
  for (int i = 0; i < 3; ++i) CHECK(clients[static_cast<std::size_t>(i)].served());
  clients[0].finish();
  CHECK(clients[3].served());
}

TEST_CASE("more taken elsewhere ends no session: the excess runs out, and its slots go nowhere") {
  Admission admission({.max_active = 3, .max_pending = 1});
  std::vector<Slot> slots;
  for (int i = 0; i < 3; ++i) slots.push_back(admission.try_admit());
  QueuedClient client(admission);
  CHECK(client.arrive() == Outcome::parked);
  admission.set_taken_elsewhere(2);
  CHECK(admission.active() == 3);
  slots.pop_back();
  slots.pop_back();
  CHECK_FALSE(client.decided());
  slots.pop_back();
  CHECK(client.served());
}

TEST_CASE("what is taken elsewhere counts against limits that a reload has changed") {
  Admission admission({.max_active = 2, .max_pending = 5});
  admission.set_taken_elsewhere(2);
  std::deque<QueuedClient> clients;
  for (int i = 0; i < 3; ++i) CHECK(clients.emplace_back(admission).arrive() == Outcome::parked);
  admission.set_limits({.max_active = 3, .max_pending = 5});
  CHECK(clients[0].served());
  CHECK_FALSE(clients[1].decided());
  admission.set_limits({.max_active = 1, .max_pending = 5});
  clients[0].finish();
  CHECK_FALSE(clients[1].decided());
  admission.set_limits({.max_active = 0, .max_pending = 5});
  CHECK(clients[1].served());
  CHECK(clients[2].served());
}

TEST_CASE("slots that are taken from elsewhere go to who waits, and no more than were there") {
  Admission admission({.max_active = 2, .max_pending = 5});
  admission.set_taken_elsewhere(2);
  std::deque<QueuedClient> clients;
  for (int i = 0; i < 3; ++i) CHECK(clients.emplace_back(admission).arrive() == Outcome::parked);
  admission.take_from_elsewhere(1);
  CHECK(clients[0].served());
  CHECK_FALSE(clients[1].decided());
  admission.take_from_elsewhere(100);
  CHECK(clients[1].served());
  CHECK_FALSE(clients[2].decided());
}

TEST_CASE(
    "race: what is granted here and taken elsewhere is never more than the limit, in the end") {
  constexpr std::uint32_t kMost = 4;
  Admission admission({.max_active = kMost, .max_pending = 100});
  run_together(4, [&](std::size_t thread) {
    if (thread == 0) {
      for (std::uint32_t i = 0; i < 3000; ++i) {
        admission.set_taken_elsewhere(i % (kMost + 1));
        admission.set_limits({.max_active = kMost, .max_pending = 100});
      }
      admission.set_taken_elsewhere(kMost - 1);
      return;
    }
    QueuedClient client(admission);
    for (int i = 0; i < 3000; ++i) {
      if (client.arrive() == Outcome::parked) client.leave(CloseReason::client_left_queue);
      client.look();
      client.finish();
    }
  });
  CHECK(admission.active() == 0);
  const Slot last = admission.try_admit();
  CHECK(last);
  CHECK_FALSE(admission.try_admit());
}
