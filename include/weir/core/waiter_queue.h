#pragma once

#include <cassert>
#include <cstddef>

#include "weir/core/waiter.h"

namespace weir::core {

// Waiters in the order of their coming, linked through themselves: to queue allocates nothing, and
// to leave from the middle costs the same as from the head. Guarded by its owner.
class WaiterQueue {
 public:
  bool empty() const { return head_ == nullptr; }
  std::size_t size() const { return size_; }

  Waiter* head() const { return head_; }  // null if empty
  Waiter* tail() const { return tail_; }
  static Waiter* behind(const Waiter& waiter) { return waiter.behind_; }

  void push_back(Waiter& waiter) {
    assert(waiter.ahead_ == nullptr && waiter.behind_ == nullptr && head_ != &waiter);
    waiter.ahead_ = tail_;
    (tail_ != nullptr ? tail_->behind_ : head_) = &waiter;
    tail_ = &waiter;
    ++size_;
  }

  void remove(Waiter& waiter) {
    assert(size_ > 0);
    (waiter.ahead_ != nullptr ? waiter.ahead_->behind_ : head_) = waiter.behind_;
    (waiter.behind_ != nullptr ? waiter.behind_->ahead_ : tail_) = waiter.ahead_;
    waiter.ahead_ = waiter.behind_ = nullptr;
    --size_;
  }

 private:
  Waiter* head_ = nullptr;
  Waiter* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weir::core
