#include "weir/core/admission.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace weir::core;

static_assert(!std::is_copy_constructible_v<Slot> && !std::is_copy_assignable_v<Slot>);
static_assert(std::is_nothrow_move_constructible_v<Slot>);

TEST_CASE("a slot counts from admission until it is destroyed") {
  Admission admission;
  {
    const Slot one = admission.admit();
    const Slot two = admission.admit();
    CHECK(one);
    CHECK(admission.active() == 2);
  }
  CHECK(admission.active() == 0);
}

TEST_CASE("a slot is given back once, however it is released") {
  Admission admission;
  Slot slot = admission.admit();
  slot.release();
  CHECK_FALSE(slot);
  CHECK(admission.active() == 0);
  slot.release();
  CHECK(admission.active() == 0);
}

TEST_CASE("a slot that moves is neither given back nor counted again") {
  Admission admission;
  Slot first = admission.admit();
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
  Slot slot = orders.admit();
  slot = users.admit();
  CHECK(orders.active() == 0);
  CHECK(users.active() == 1);
}

TEST_CASE("workers admit and release at the same time and nothing is left") {
  Admission admission;
  std::atomic<int> ready{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      ++ready;
      while (ready < 4) std::this_thread::yield();
      for (int round = 0; round < 500000; ++round) {
        Slot outer = admission.admit();
        const Slot inner = admission.admit();
        outer = Slot();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(admission.active() == 0);
}
