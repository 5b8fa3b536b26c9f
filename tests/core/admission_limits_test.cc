#include <doctest/doctest.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "tests/core/queued_client.h"
#include "weir/core/admission.h"

using namespace weir::core;
using Outcome = Admitted::Outcome;

namespace {

std::vector<Slot> take_slots(Admission& admission, std::size_t count) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < count; ++i) {
    slots.push_back(admission.try_admit());
    REQUIRE(slots.back());
  }
  return slots;
}

void park(Admission& admission, std::deque<QueuedClient>& clients, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(clients.emplace_back(admission).arrive() == Outcome::parked);
  }
}

// Those who were told so far; all of them must be at the head.
std::size_t decided(const std::deque<QueuedClient>& clients) {
  std::size_t count = 0;
  while (count < clients.size() && clients[count].decided()) ++count;
  for (std::size_t i = count; i < clients.size(); ++i) CHECK_FALSE(clients[i].decided());
  return count;
}

}  // namespace

TEST_CASE("a limit lowered from 1000 to 100 lets 500 sessions run out and the excess only shrink") {
  Admission admission({.max_active = 1000, .max_pending = 10});
  std::vector<Slot> slots = take_slots(admission, 500);
  admission.set_limits({.max_active = 100, .max_pending = 10});
  CHECK(admission.active() == 500);
  std::deque<QueuedClient> clients;
  park(admission, clients, 10);

  for (std::size_t left = 500; left > 100;) {
    REQUIRE_FALSE(admission.try_admit());
    slots.pop_back();
    --left;
    REQUIRE(admission.active() == left);
    REQUIRE(admission.snapshot().pending == 10);
    REQUIRE(decided(clients) == 0);
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    slots.pop_back();
    REQUIRE(admission.active() == 100);
    REQUIRE(decided(clients) == i + 1);
    REQUIRE(clients[i].served());
  }
  REQUIRE_FALSE(admission.try_admit());
  slots.pop_back();
  CHECK(admission.active() == 99);
  CHECK(admission.try_admit());
  CHECK(admission.snapshot().rejected_as(CloseReason::proxy_overloaded) == 401);

  slots.clear();
  clients.clear();
  CHECK(admission.active() == 0);
}

TEST_CASE("above a lowered limit newcomers are refused where there is no queue") {
  Admission admission({.max_active = 3});
  std::vector<Slot> slots = take_slots(admission, 3);
  admission.set_limits({.max_active = 1});
  for (std::size_t left = 3; left > 0; --left) {
    QueuedClient client(admission);
    CHECK(client.arrive() == Outcome::refused);
    CHECK(admission.active() == left);
    slots.pop_back();
  }
  CHECK(admission.try_admit());
}

TEST_CASE("a raised limit serves at once exactly as many as it now admits, the oldest first") {
  Admission admission({.max_active = 2, .max_pending = 10});
  const std::vector<Slot> slots = take_slots(admission, 2);
  std::deque<QueuedClient> clients;
  park(admission, clients, 10);
  admission.set_limits({.max_active = 5, .max_pending = 10});
  CHECK(decided(clients) == 3);
  CHECK(admission.active() == 5);
  CHECK(admission.snapshot().pending == 7);
  CHECK_FALSE(admission.try_admit());
  for (std::size_t i = 0; i < 3; ++i) CHECK(clients[i].served());
  for (std::size_t i = 3; i < 10; ++i) CHECK(clients[i].parked());
}

TEST_CASE("a raise that stays below what is active serves nobody") {
  Admission admission({.max_active = 10, .max_pending = 1});
  const std::vector<Slot> slots = take_slots(admission, 10);
  admission.set_limits({.max_active = 2, .max_pending = 1});
  QueuedClient client(admission);
  (void)client.arrive();
  admission.set_limits({.max_active = 10, .max_pending = 1});
  CHECK(client.parked());
  admission.set_limits({.max_active = 11, .max_pending = 1});
  CHECK(client.served());
}

TEST_CASE("to lift the limit serves all who wait") {
  Admission admission({.max_active = 1, .max_pending = 20});
  const Slot slot = admission.try_admit();
  std::deque<QueuedClient> clients;
  park(admission, clients, 20);
  admission.set_limits({});
  CHECK(decided(clients) == 20);
  for (QueuedClient& client : clients) CHECK(client.served());
  CHECK(admission.active() == 21);
  CHECK(admission.try_admit());
}

TEST_CASE("a limit put on an unlimited pool holds for the next, whatever already runs") {
  Admission admission;
  std::vector<Slot> slots = take_slots(admission, 5);
  admission.set_limits({.max_active = 4});
  CHECK_FALSE(admission.try_admit());
  slots.resize(3);
  slots.push_back(admission.try_admit());
  CHECK(slots.back());
  CHECK_FALSE(admission.try_admit());
}

TEST_CASE("a shortened queue refuses the youngest beyond it") {
  Admission admission({.max_active = 1, .max_pending = 5});
  const Slot slot = admission.try_admit();
  std::deque<QueuedClient> clients;
  park(admission, clients, 5);
  admission.set_limits({.max_active = 1, .max_pending = 2});
  CHECK(admission.snapshot().pending == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(clients[i].parked());
  for (std::size_t i = 2; i < 5; ++i) {
    CHECK(clients[i].decided());
    CHECK(clients[i].refused_as(CloseReason::proxy_overloaded));
  }
  CHECK(admission.snapshot().rejected_as(CloseReason::proxy_overloaded) == 3);
}

TEST_CASE(
    "a queue that is shortened while the limit rises refuses only whom the rise leaves over") {
  Admission admission({.max_active = 1, .max_pending = 5});
  const Slot slot = admission.try_admit();
  std::deque<QueuedClient> clients;
  park(admission, clients, 5);
  admission.set_limits({.max_active = 4, .max_pending = 1});
  for (std::size_t i = 0; i < 3; ++i) CHECK(clients[i].served());
  CHECK(clients[3].parked());
  CHECK(clients[4].refused_as(CloseReason::proxy_overloaded));
}

TEST_CASE("a queue that is taken away refuses all who wait, and the pool goes on") {
  Admission admission({.max_active = 1, .max_pending = 2});
  Slot slot = admission.try_admit();
  std::deque<QueuedClient> clients;
  park(admission, clients, 2);
  admission.set_limits({.max_active = 1});
  for (QueuedClient& client : clients) CHECK(client.refused_as(CloseReason::proxy_overloaded));
  slot.release();
  CHECK(admission.active() == 0);
  CHECK(admission.try_admit());
}

TEST_CASE("the largest limit is a limit like any other") {
  Admission admission({.max_active = 0xffff'ffff, .max_pending = 0xffff'ffff});
  const Slot slot = admission.try_admit();
  CHECK(slot);
  CHECK(admission.active() == 1);
  CHECK(admission.snapshot().max_active == 0xffff'ffff);
  CHECK(admission.snapshot().max_pending == 0xffff'ffff);
}
