#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "tests/core/queued_client.h"
#include "weir/core/admission.h"

using namespace weir::core;
using Outcome = Admitted::Outcome;

TEST_CASE("those who wait are served in the order of their coming") {
  Admission admission({.max_active = 1, .max_pending = 50});
  Slot slot = admission.try_admit();
  std::deque<QueuedClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back(admission);
    REQUIRE(clients.back().arrive() == Outcome::parked);
  }
  slot.release();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    REQUIRE(clients[i].decided());
    REQUIRE(clients[i].served());
    if (i + 1 < clients.size()) REQUIRE_FALSE(clients[i + 1].decided());
    CHECK(admission.snapshot().pending == clients.size() - 1 - i);
    clients[i].finish();
  }
  CHECK(admission.active() == 0);
}

TEST_CASE("a slot that is handed over never counts as free on its way") {
  Admission admission({.max_active = 3, .max_pending = 3});
  Slot mine = admission.try_admit();
  const Slot others[] = {admission.try_admit(), admission.try_admit()};
  QueuedClient client(admission);
  struct Seen {
    Admission& admission;
    std::uint64_t active;
  } seen{admission, 0};
  client.with = &seen;
  client.when_decided = [](void* with) {
    Seen& to = *static_cast<Seen*>(with);
    to.active = to.admission.active();
  };
  (void)client.arrive();
  mine.release();
  CHECK(seen.active == 3);
  CHECK(admission.active() == 3);
  CHECK_FALSE(admission.try_admit());
  CHECK(client.served());
}

TEST_CASE("a grant counts as a session before its owner has seen it") {
  Admission admission({.max_active = 1, .max_pending = 1});
  Slot slot = admission.try_admit();
  QueuedClient client(admission);
  (void)client.arrive();
  slot.release();
  CHECK(admission.snapshot().active == 1);
  CHECK(admission.snapshot().pending == 0);
  CHECK_FALSE(admission.try_admit());
  CHECK(client.served());
  CHECK(admission.active() == 1);
}

TEST_CASE("a wait that is not over says so however often it is asked") {
  Admission admission({.max_active = 1, .max_pending = 1});
  Slot slot = admission.try_admit();
  QueuedClient client(admission);
  (void)client.arrive();
  CHECK(client.look() == Outcome::parked);
  CHECK(client.look() == Outcome::parked);
  slot.release();
  CHECK(client.served());
}

TEST_CASE("whoever leaves the queue is passed over, from the head, the middle and the tail") {
  for (const std::size_t leaver : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    Admission admission({.max_active = 1, .max_pending = 3});
    Slot slot = admission.try_admit();
    std::deque<QueuedClient> clients;
    for (int i = 0; i < 3; ++i) (void)clients.emplace_back(admission).arrive();
    clients[leaver].leave(CloseReason::client_left_queue);
    CHECK(admission.snapshot().pending == 2);
    slot.release();
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == leaver) continue;
      REQUIRE(clients[i].served());
      clients[i].finish();
    }
    CHECK_FALSE(clients[leaver].decided());
    CHECK(admission.active() == 0);
    CHECK(admission.try_admit());
  }
}

TEST_CASE("a grant that crosses with the waiter's leaving goes to the next in line") {
  Admission admission({.max_active = 1, .max_pending = 2});
  Slot slot = admission.try_admit();
  QueuedClient leaver(admission);
  QueuedClient next(admission);
  (void)leaver.arrive();
  (void)next.arrive();
  slot.release();
  REQUIRE(leaver.decided());
  CHECK(leaver.leave(CloseReason::pending_timeout) == CloseReason::pending_timeout);
  CHECK(next.decided());
  CHECK(next.served());
  CHECK(admission.snapshot().rejected_as(CloseReason::pending_timeout) == 1);
  next.finish();
  CHECK(admission.active() == 0);
}

TEST_CASE("a crossed grant with nobody next in line is a free slot again") {
  Admission admission({.max_active = 1, .max_pending = 1});
  Slot slot = admission.try_admit();
  QueuedClient leaver(admission);
  (void)leaver.arrive();
  slot.release();
  leaver.leave(CloseReason::client_left_queue);
  CHECK(admission.active() == 0);
  CHECK(admission.try_admit());
}

TEST_CASE("a refusal that crosses with the waiter's leaving is what counts") {
  Admission admission({.max_active = 1, .max_pending = 1});
  const Slot slot = admission.try_admit();
  QueuedClient client(admission);
  (void)client.arrive();
  admission.shut_down();
  CHECK(client.leave(CloseReason::pending_timeout) == CloseReason::shutdown);
  CHECK(admission.snapshot().rejected_as(CloseReason::shutdown) == 1);
  CHECK(admission.snapshot().rejected_as(CloseReason::pending_timeout) == 0);
}

TEST_CASE("a waiter that is destroyed leaves, and gives back what it was granted") {
  Admission admission({.max_active = 1, .max_pending = 2});
  Slot slot = admission.try_admit();
  auto parked = std::make_unique<QueuedClient>(admission);
  (void)parked->arrive();
  parked.reset();
  CHECK(admission.snapshot().pending == 0);

  auto granted = std::make_unique<QueuedClient>(admission);
  QueuedClient next(admission);
  (void)granted->arrive();
  (void)next.arrive();
  slot.release();
  granted.reset();
  CHECK(next.served());
  next.finish();
  CHECK(admission.active() == 0);
  for (const std::uint64_t count : admission.snapshot().rejected) CHECK(count == 0);
}

TEST_CASE("a waiter may come again after it was served, refused or has left") {
  Admission admission({.max_active = 1, .max_pending = 1});
  QueuedClient client(admission);
  for (int round = 0; round < 3; ++round) {
    Slot slot = admission.try_admit();
    REQUIRE(client.arrive() == Outcome::parked);
    client.leave(CloseReason::client_left_queue);
    client.leave(CloseReason::client_left_queue);
    REQUIRE(client.arrive() == Outcome::parked);
    admission.retire(nullptr);
    REQUIRE(client.refused_as(CloseReason::upstream_unavailable));
    REQUIRE(client.arrive() == Outcome::parked);
    slot.release();
    REQUIRE(client.served());
    client.finish();
  }
  CHECK(admission.snapshot().rejected_as(CloseReason::client_left_queue) == 3);
}

TEST_CASE("a newcomer does not overtake those whom a raised limit is about to serve") {
  Admission admission({.max_active = 1, .max_pending = 3});
  const Slot slot = admission.try_admit();
  std::array<QueuedClient, 2> waiting{QueuedClient(admission), QueuedClient(admission)};
  for (QueuedClient& client : waiting) (void)client.arrive();

  // The first grant of the raise holds the door: of three slots two are taken, and one waits.
  struct Door {
    QueuedClient newcomer;
    std::atomic<bool> open{false};
    std::atomic<bool> passed{false};
  } door{QueuedClient(admission)};
  std::thread arrives([&door] {
    while (!door.open) std::this_thread::yield();
    (void)door.newcomer.arrive();
    door.passed = true;
  });
  waiting[0].with = &door;
  waiting[0].when_decided = [](void* with) {
    Door& to = *static_cast<Door*>(with);
    to.open = true;
    for (int i = 0; i < 50 && !to.passed; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  admission.set_limits({.max_active = 3, .max_pending = 3});
  arrives.join();
  CHECK(waiting[0].served());
  CHECK(waiting[1].served());
  CHECK(door.newcomer.parked());
  CHECK(admission.active() == 3);
}

TEST_CASE("to retire a generation refuses its own waiters and no others") {
  const int before = 0;
  const int after = 0;
  Admission admission({.max_active = 1, .max_pending = 6});
  Slot slot = admission.try_admit();
  std::deque<QueuedClient> leaving;
  std::deque<QueuedClient> staying;
  for (int i = 0; i < 3; ++i) {
    (void)leaving.emplace_back(admission, &before).arrive();
    (void)staying.emplace_back(admission, &after).arrive();
  }
  admission.retire(&before);
  for (QueuedClient& client : leaving) {
    CHECK(client.decided());
    CHECK(client.refused_as(CloseReason::upstream_unavailable));
  }
  for (QueuedClient& client : staying) CHECK(client.parked());
  CHECK(admission.snapshot().pending == 3);
  CHECK(admission.snapshot().rejected_as(CloseReason::upstream_unavailable) == 3);

  slot.release();
  for (QueuedClient& client : staying) {
    REQUIRE(client.served());
    client.finish();
  }
  CHECK(admission.active() == 0);
}

TEST_CASE("to retire a generation takes nothing from its sessions that have a slot") {
  const int generation = 0;
  Admission admission({.max_active = 1, .max_pending = 1});
  QueuedClient running(admission, &generation);
  CHECK(running.arrive() == Outcome::granted);
  QueuedClient other(admission);
  (void)other.arrive();
  admission.retire(&generation);
  CHECK(running.served());
  CHECK(other.parked());
}

TEST_CASE("a shutdown refuses all who wait, and later all who would have to") {
  const int generation = 0;
  Admission admission({.max_active = 1, .max_pending = 3});
  Slot slot = admission.try_admit();
  std::deque<QueuedClient> clients;
  for (const void* tag :
       {static_cast<const void*>(&generation), static_cast<const void*>(nullptr)}) {
    (void)clients.emplace_back(admission, tag).arrive();
  }
  admission.shut_down();
  for (QueuedClient& client : clients) {
    CHECK(client.decided());
    CHECK(client.refused_as(CloseReason::shutdown));
  }
  CHECK(admission.snapshot().pending == 0);
  CHECK(admission.active() == 1);

  QueuedClient later(admission);
  CHECK(later.arrive() == Outcome::refused);
  CHECK(later.refused_as(CloseReason::shutdown));
  slot.release();
  CHECK(later.arrive() == Outcome::granted);
  CHECK(admission.snapshot().rejected_as(CloseReason::shutdown) == 3);
}
