#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "weir/core/close_reason.h"
#include "weir/core/slot.h"
#include "weir/core/waiter.h"
#include "weir/core/waiter_queue.h"

namespace weir::core {

struct AdmissionLimits {
  std::uint32_t max_active = 0;   // slots at once; 0 = unlimited
  std::uint32_t max_pending = 0;  // waiters at once; 0 = there is no queue, nobody waits
  bool operator==(const AdmissionLimits&) const = default;
};

// One instant of an Admission. `pending <= max_pending`, and while anyone waits no slot is free.
struct AdmissionSnapshot {
  std::uint64_t active = 0;   // gauge; above max_active only after that was lowered
  std::uint64_t pending = 0;  // gauge
  std::uint32_t max_active = 0;
  std::uint32_t max_pending = 0;
  std::array<std::uint64_t, kCloseReasons> rejected{};  // totals, by reason

  std::uint64_t rejected_as(CloseReason reason) const {
    return rejected[static_cast<std::size_t>(reason)];
  }
};

// How many sessions a pool has, from admission to their end, and who waits to be one. Shared by
// all workers; every function may be called on any thread.
//
// Whoever comes first is served first. While anyone waits a newcomer queues behind, and a slot that
// is given back goes to the head of the queue without ever counting as free.
//
// Locking. `word_` holds three things that are decided together: how many are active, how many may
// be, and whether anyone waits.
// - The mutex guards the queue and everything else. `kWaits` is set exactly while the queue is not
//   empty, and it changes only under the mutex.
// - With `kWaits` clear, slots are claimed and given back by compare-and-swap, without the mutex.
//   To park is a compare-and-swap as well: it fails if a slot was given back since it was looked
//   for, so nobody goes to sleep beside a free slot.
// - With `kWaits` set nobody changes the word without the mutex, so nobody overtakes the queue.
// - The limit is in the word so that a slot is never claimed under a limit that no longer holds:
//   once set_limits() has returned, an excess over the new limit can only shrink.
class Admission {
 public:
  explicit Admission(AdmissionLimits limits = {});
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission();  // no slot may be out, nobody may wait

  // Grants a slot if one is free, else parks the waiter, which then is waiting(), if it may wait.
  // Refused: `proxy_overloaded` if the queue is full or there is none, `shutdown` if it would have
  // waited and shut_down() was called.
  [[nodiscard]] Admitted admit(Waiter& waiter);

  // For those who do not wait: empty is a refusal, `proxy_overloaded`.
  [[nodiscard]] Slot try_admit();

  // Ends no session. Lowering max_active lets the excess run out; raising it grants what it now
  // admits, in order. Waiters beyond a lowered max_pending are refused as `proxy_overloaded`,
  // the youngest first.
  void set_limits(AdmissionLimits limits);

  // So many of the slots are in use by another process, which drains: only the rest are granted
  // here, perhaps none. Fewer than before grants what is free again, in order.
  void set_taken_elsewhere(std::uint32_t slots);
  // So many of those are ours from here on.
  void take_from_elsewhere(std::uint32_t slots);

  // Refuses those who wait with this generation as `upstream_unavailable`. It remembers nothing:
  // the caller sees to it that no more of them come.
  void retire(const void* generation);

  // Refuses all who wait, and from now on all who would have to, as `shutdown`. Slots that are free
  // are still granted. There is no way back.
  void shut_down();

  std::uint64_t active() const;
  AdmissionSnapshot snapshot() const;

 private:
  friend class Slot;
  friend class Waiter;

  Admitted take(Waiter& waiter);
  CloseReason leave(Waiter& waiter, std::optional<CloseReason> reason);

  bool claim(std::uint64_t& word) noexcept;
  bool unclaim(std::uint64_t& word) noexcept;
  void release() noexcept;
  // With the mutex held:
  void apply_limit();
  void hand_over() noexcept;
  void grant(Waiter& waiter) noexcept;
  void refuse(Waiter& waiter, CloseReason reason) noexcept;
  void leave_queue(Waiter& waiter) noexcept;
  void count(CloseReason reason) noexcept { ++rejected_[static_cast<std::size_t>(reason)]; }

  // All workers write here for each session; 64 bytes is a cache line, kept apart from what lies
  // around an Admission and from the mutex.
  alignas(64) std::atomic<std::uint64_t> word_;

  alignas(64) mutable std::mutex mutex_;
  AdmissionLimits limits_;
  std::uint32_t taken_elsewhere_ = 0;
  WaiterQueue queue_;
  bool shut_down_ = false;
  std::array<std::uint64_t, kCloseReasons> rejected_{};
};

}  // namespace weir::core
