#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "weir/core/sliding_count.h"
#include "weir/core/time.h"

namespace weir::core {

// Keeps a pool whose backends fail from being dialled several times as often as it has clients. A
// *primary* is the first dial of a connection, a *retry* each further one. A retry is granted while
//
//     retries < floor(primaries x percent / 100) + kFloor
//
// over the last kWindow; the primary of the connection that asks is among them.
//
// The window slides by kSlice. What is uncertain by that is held against the retry: a primary
// counts for up to a slice less than the window, a granted retry for up to a slice more. So nothing
// is granted that an exact window would refuse.
//
// Shared by all workers; any thread may call anything. Asking and counting are one step under the
// mutex, or two that ask at once could both get the last retry. With percent 0 there is no budget:
// everything is granted, nothing is counted, and nobody takes the mutex.
class RetryBudget {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(10);
  // Small against the window, and so many that they fit into a kilobyte.
  static constexpr Duration kSlice = std::chrono::milliseconds(100);
  // In a pool with few clients a share of them is less than one retry.
  static constexpr std::uint64_t kFloor = 3;

  explicit RetryBudget(std::uint32_t percent) : percent_(percent) {}
  RetryBudget(const RetryBudget&) = delete;
  RetryBudget& operator=(const RetryBudget&) = delete;

  // Whether anything can be refused at all.
  bool limited() const { return percent_.load(std::memory_order_relaxed) != 0; }

  // A connection makes its first dial. In both a `now` before an earlier one, from a thread whose
  // clock is a turn behind, counts as that one.
  void primary(TimePoint now) {
    if (limited()) count_primary(now);
  }
  // Whether it may make a further one; true is charged, so the dial should follow at once.
  [[nodiscard]] bool try_retry(TimePoint now) { return !limited() || charge(now); }

  // Holds from the next retry on. What the window has counted stays.
  void set_percent(std::uint32_t percent) { percent_.store(percent, std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kSlices = kWindow / kSlice;
  static std::int64_t slice(TimePoint now) { return now.time_since_epoch() / kSlice; }

  void count_primary(TimePoint now);
  bool charge(TimePoint now);

  std::atomic<std::uint32_t> percent_;
  std::mutex mutex_;  // guards what follows
  SlidingCount<kSlices> primaries_;
  SlidingCount<kSlices + 1> retries_;
};

}  // namespace weir::core
