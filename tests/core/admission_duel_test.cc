// Two threads that meet in one admission at the same moment, round after round, each time a little
// earlier or later.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "tests/core/queued_client.h"
#include "tests/core/race.h"
#include "weir/core/admission.h"

using namespace weir::core;
using Outcome = Admitted::Outcome;

namespace {

constexpr std::size_t kRounds = 200000 / kScale;

void linger(std::size_t turns) {
  static std::atomic<bool> sight{false};
  for (std::size_t i = 0; i < turns; ++i) (void)sight.load();
}

}  // namespace

TEST_CASE("whoever parks as the last slot is given back is served, at once or by that slot") {
  Admission admission({.max_active = 1, .max_pending = 1});
  Slot slot;
  Opponent holder([&slot] { slot.release(); });
  std::size_t lost = 0;
  for (std::size_t round = 0; round < kRounds && lost == 0; ++round) {
    QueuedClient client(admission);
    slot = admission.try_admit();
    if (!slot) ++lost;
    holder.go();
    linger(round % 256);
    if (client.arrive() == Outcome::refused) ++lost;
    holder.await();
    if (!client.served()) ++lost;
    client.finish();
    if (admission.active() != 0) ++lost;
  }
  CHECK(lost == 0);
  CHECK(admission.snapshot().pending == 0);
}

TEST_CASE("a slot handed to a client that leaves in the same moment reaches the next in line") {
  Admission admission({.max_active = 1, .max_pending = 2});
  Slot slot;
  Opponent holder([&slot] { slot.release(); });
  std::size_t lost = 0;
  std::size_t crossed = 0;
  for (std::size_t round = 0; round < kRounds && lost == 0; ++round) {
    QueuedClient leaver(admission);
    QueuedClient next(admission);
    slot = admission.try_admit();
    if (!slot || leaver.arrive() != Outcome::parked || next.arrive() != Outcome::parked) ++lost;
    holder.go();
    linger(round % 256);
    if (round % 256 == 255) holder.await();  // so that some cross for sure
    leaver.leave(CloseReason::client_left_queue);
    if (leaver.decided()) ++crossed;
    holder.await();
    if (!next.served()) ++lost;
    next.finish();
    if (admission.active() != 0) ++lost;
  }
  CHECK(lost == 0);
  CHECK(crossed >= kRounds / 256);
  CHECK(admission.snapshot().pending == 0);
}

TEST_CASE("nobody needs the mutex below the limit, nor to give a slot back that nobody waits for") {
  Admission admission({.max_active = 2, .max_pending = 1});
  Slot slot = admission.try_admit();
  Slot other = admission.try_admit();
  // The client's grant keeps the mutex until the slots have come and gone on another thread.
  struct Busy {
    Admission& admission;
    Slot& other;
    std::atomic<bool> granted{false};
    std::atomic<bool> went{false};
    bool in_time = false;
  } busy{admission, other};
  std::thread passes([&busy] {
    while (!busy.granted) std::this_thread::yield();
    busy.other.release();
    for (int i = 0; i < 3; ++i) busy.admission.try_admit().release();
    busy.went = true;
  });
  QueuedClient client(admission);
  client.with = &busy;
  client.when_decided = [](void* with) {
    Busy& to = *static_cast<Busy*>(with);
    to.granted = true;
    Progress progress;
    while (!to.went && !progress.hopeless()) {
    }
    to.in_time = to.went;
  };
  REQUIRE(client.arrive() == Outcome::parked);
  slot.release();
  passes.join();
  CHECK(busy.in_time);
  CHECK(client.served());
  CHECK(admission.active() == 1);
}
