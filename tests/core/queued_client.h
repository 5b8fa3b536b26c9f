#pragma once

#include <atomic>
#include <utility>

#include "weir/core/admission.h"

// What a session is to an admission: a waiter with its watcher, and the slot that comes of it.
// Used by one thread, but for decided().
class QueuedClient final : private weir::core::Waiter::Watcher {
 public:
  using Outcome = weir::core::Admitted::Outcome;

  explicit QueuedClient(weir::core::Admission& admission, const void* generation = nullptr)
      : admission_(admission), waiter_(generation, *this) {}

  Outcome arrive() {
    decided_.store(false, std::memory_order_relaxed);
    return keep(admission_.admit(waiter_));
  }
  // How it stands, after looking.
  Outcome look() { return waiter_.waiting() ? keep(waiter_.take()) : outcome_; }
  weir::core::CloseReason leave(weir::core::CloseReason reason) { return waiter_.cancel(reason); }
  void finish() { slot_.release(); }

  bool served() { return look() == Outcome::granted && slot_; }
  bool parked() { return look() == Outcome::parked && waiter_.waiting(); }
  bool refused_as(weir::core::CloseReason reason) {
    return look() == Outcome::refused && reason_ == reason;
  }
  bool waiting() const { return waiter_.waiting(); }
  // Whether the watcher was called since the last arrival, without looking. Any thread.
  bool decided() const { return decided_.load(std::memory_order_acquire); }

  // What more to do when the wait is decided, on the thread that decides.
  void (*when_decided)(void* with) = nullptr;
  void* with = nullptr;

 private:
  void on_decided() noexcept override {
    if (when_decided != nullptr) when_decided(with);
    decided_.store(true, std::memory_order_release);
  }
  Outcome keep(weir::core::Admitted admitted) {
    outcome_ = admitted.outcome;
    reason_ = admitted.reason;
    slot_ = std::move(admitted.slot);
    return outcome_;
  }

  weir::core::Admission& admission_;
  Outcome outcome_ = Outcome::refused;
  weir::core::CloseReason reason_ = weir::core::CloseReason::proxy_overloaded;
  weir::core::Slot slot_;
  std::atomic<bool> decided_{false};
  weir::core::Waiter waiter_;  // last: it leaves the queue before its watcher is gone
};
