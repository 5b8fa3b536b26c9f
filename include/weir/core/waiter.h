#pragma once

#include <cstdint>

#include "weir/core/close_reason.h"
#include "weir/core/slot.h"

namespace weir::core {

// What became of asking for a slot.
struct Admitted {
  enum class Outcome : std::uint8_t { granted, parked, refused };

  Outcome outcome = Outcome::refused;
  Slot slot = {};                                      // full if granted, else empty
  CloseReason reason = CloseReason::proxy_overloaded;  // means something if refused
};

// A place in an admission's queue. A session owns one and uses it on its own thread only; the
// admission decides about it on any thread. Neither copied nor moved: the queue points at it.
//
// The one who is told is a separate object, because a waiter that was its own watcher would leave
// the queue in its base's destructor, when there is nobody left to be told.
class Waiter {
 public:
  class Watcher {
   public:
    // The wait is over: take() says how. Called once for each wait that the admission decides,
    // never for one that was cancelled, on the thread that decided and under the admission's
    // mutex. So it only signals the waiter's own loop; it calls neither the admission, nor the
    // waiter, nor anything that might.
    virtual void on_decided() noexcept = 0;

   protected:
    ~Watcher() = default;
  };

  // `generation` says whose it is when a generation is retired; it is compared, never followed.
  // The watcher must outlive the waiter.
  Waiter(const void* generation, Watcher& watcher) : generation_(generation), watcher_(watcher) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();  // leaves as cancel() does, uncounted

  // From a parked Admission::admit() until take() has given the decision away, or cancel().
  bool waiting() const { return at_ != nullptr; }

  // How a wait ended; `parked` while it has not. Only while waiting().
  [[nodiscard]] Admitted take();

  // Leaves the queue, and counts the wait as refused for `reason`. A grant on its way here goes to
  // the next in line; a refusal on its way here is what counts, and nothing is counted twice.
  // Answers the reason that was counted. Does nothing unless waiting().
  CloseReason cancel(CloseReason reason);

 private:
  friend class Admission;
  friend class WaiterQueue;

  const void* const generation_;
  Watcher& watcher_;
  Admission* at_ = nullptr;  // of the owner's thread

  // Guarded by the mutex of `*at_`.
  Admitted::Outcome outcome_ = Admitted::Outcome::parked;
  CloseReason reason_ = CloseReason::proxy_overloaded;
  Waiter* ahead_ = nullptr;
  Waiter* behind_ = nullptr;
};

}  // namespace weir::core
