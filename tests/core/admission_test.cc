#include "weir/core/admission.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "tests/core/allocations.h"
#include "tests/core/queued_client.h"

using namespace weir::core;

static_assert(!std::is_copy_constructible_v<Slot> && !std::is_copy_assignable_v<Slot>);
static_assert(std::is_nothrow_move_constructible_v<Slot>);

TEST_CASE("a slot counts from admission until it is destroyed") {
  Admission admission;
  {
    const Slot one = admission.try_admit();
    const Slot two = admission.try_admit();
    CHECK(one);
    CHECK(admission.active() == 2);
  }
  CHECK(admission.active() == 0);
}

TEST_CASE("a slot is given back once, however it is released") {
  Admission admission;
  Slot slot = admission.try_admit();
  slot.release();
  CHECK_FALSE(slot);
  CHECK(admission.active() == 0);
  slot.release();
  CHECK(admission.active() == 0);
}

TEST_CASE("a slot that moves is neither given back nor counted again") {
  Admission admission;
  Slot first = admission.try_admit();
  Slot second(std::move(first));
  CHECK(admission.active() == 1);
  CHECK(second);
  first = std::move(second);
  CHECK(admission.active() == 1);
  CHECK(first);

  Slot& itself = first;
  first = std::move(itself);
  CHECK(admission.active() == 1);
}

TEST_CASE("a slot goes back to the pool that it came from, also when another is assigned over it") {
  Admission orders;
  Admission users;
  Slot slot = orders.try_admit();
  slot = users.try_admit();
  CHECK(orders.active() == 0);
  CHECK(users.active() == 1);
}

TEST_CASE("an assignment over a slot of a full pool passes that slot on, once") {
  Admission admission({.max_active = 1, .max_pending = 2});
  Slot slot = admission.try_admit();
  QueuedClient next(admission);
  QueuedClient last(admission);
  (void)next.arrive();
  (void)last.arrive();
  slot = Slot();
  CHECK(next.served());
  CHECK(last.parked());
  slot.release();
  CHECK(last.parked());
  next.finish();
  CHECK(last.served());
}

TEST_CASE("without a limit everybody gets a slot") {
  Admission admission;
  std::vector<Slot> slots;
  for (int i = 0; i < 10000; ++i) {
    slots.push_back(admission.try_admit());
    REQUIRE(slots.back());
  }
  QueuedClient client(admission);
  CHECK(client.arrive() == Admitted::Outcome::granted);
  CHECK(admission.active() == 10001);
}

TEST_CASE("a pool admits as many as its limit and not one more, until one ends") {
  for (const std::uint32_t limit : {1U, 2U, 100U}) {
    Admission admission({.max_active = limit});
    std::vector<Slot> slots;
    for (std::uint32_t i = 0; i < limit; ++i) {
      slots.push_back(admission.try_admit());
      REQUIRE(slots.back());
    }
    CHECK_FALSE(admission.try_admit());
    CHECK(admission.active() == limit);
    slots.pop_back();
    const Slot again = admission.try_admit();
    CHECK(again);
    CHECK_FALSE(admission.try_admit());
    CHECK(admission.snapshot().rejected_as(CloseReason::proxy_overloaded) == 2);
  }
}

TEST_CASE("without a queue nobody waits: a full pool refuses at once") {
  Admission admission({.max_active = 1});
  const Slot slot = admission.try_admit();
  QueuedClient client(admission);
  CHECK(client.arrive() == Admitted::Outcome::refused);
  CHECK(client.refused_as(CloseReason::proxy_overloaded));
  CHECK_FALSE(client.waiting());
  CHECK_FALSE(client.decided());
}

TEST_CASE("a queue takes as many as it may hold and refuses the next, also once others have left") {
  Admission admission({.max_active = 1, .max_pending = 2});
  Slot slot = admission.try_admit();
  QueuedClient first(admission);
  QueuedClient second(admission);
  QueuedClient third(admission);
  CHECK(first.arrive() == Admitted::Outcome::parked);
  CHECK(second.arrive() == Admitted::Outcome::parked);
  CHECK(third.arrive() == Admitted::Outcome::refused);
  CHECK(third.refused_as(CloseReason::proxy_overloaded));
  CHECK(admission.snapshot().pending == 2);

  first.leave(CloseReason::client_left_queue);
  CHECK(third.arrive() == Admitted::Outcome::parked);
  QueuedClient fourth(admission);
  CHECK(fourth.arrive() == Admitted::Outcome::refused);

  slot.release();
  CHECK(fourth.arrive() == Admitted::Outcome::parked);
  CHECK(admission.snapshot().pending == 2);
}

TEST_CASE("every refusal is counted once, under its reason") {
  const int old_listener = 0;
  Admission admission({.max_active = 1, .max_pending = 4});
  const Slot slot = admission.try_admit();
  QueuedClient late(admission);
  QueuedClient left(admission);
  QueuedClient retired(admission, &old_listener);
  QueuedClient shut(admission);
  QueuedClient full(admission);
  for (QueuedClient* client : {&late, &left, &retired, &shut, &full}) (void)client->arrive();
  CHECK(late.leave(CloseReason::pending_timeout) == CloseReason::pending_timeout);
  CHECK(left.leave(CloseReason::client_left_queue) == CloseReason::client_left_queue);
  admission.retire(&old_listener);
  admission.shut_down();

  const AdmissionSnapshot then = admission.snapshot();
  CHECK(then.active == 1);
  CHECK(then.pending == 0);
  CHECK(then.max_active == 1);
  CHECK(then.max_pending == 4);
  std::uint64_t all = 0;
  for (const std::uint64_t count : then.rejected) all += count;
  CHECK(all == 5);
  for (const CloseReason reason :
       {CloseReason::proxy_overloaded, CloseReason::pending_timeout, CloseReason::client_left_queue,
        CloseReason::upstream_unavailable, CloseReason::shutdown}) {
    CHECK(then.rejected_as(reason) == 1);
  }
}

TEST_CASE("to be admitted, to wait, to leave and to be served allocates nothing") {
  Admission admission({.max_active = 2, .max_pending = 2});
  QueuedClient client(admission);
  QueuedClient other(admission);
  const std::uint64_t before = allocations();
  for (std::uint32_t round = 0; round < 100; ++round) {
    Slot first = admission.try_admit();
    Slot second = admission.try_admit();
    const Slot refused = admission.try_admit();
    (void)client.arrive();
    (void)other.arrive();
    first.release();
    (void)client.look();
    other.leave(CloseReason::pending_timeout);
    admission.set_limits({.max_active = 1 + round % 2, .max_pending = 2});
    (void)admission.snapshot();
    client.finish();
    second.release();
    admission.set_limits({.max_active = 2, .max_pending = 2});
  }
  CHECK(allocations() == before);
  CHECK(admission.active() == 0);
  CHECK(admission.snapshot().pending == 0);
}
