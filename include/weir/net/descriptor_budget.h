#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weir::net {

// Raises the soft descriptor limit to the hard one; answers the limit then in force.
std::size_t raise_descriptor_limit();

// Descriptors that this process has open.
std::size_t open_descriptors();

// The descriptors that sessions may use, so that accepting stops by itself before the kernel says
// EMFILE and what is not a session (admin, logs, look-ups) always finds one. Exact and shared by
// all workers; any thread.
class DescriptorBudget {
 public:
  explicit DescriptorBudget(std::size_t capacity) : capacity_(capacity) {}

  // Takes `count`, or nothing when so many are not left.
  [[nodiscard]] bool take(std::size_t count);
  void give_back(std::size_t count);

  // Those in use beyond a smaller capacity are given back in their time.
  void set_capacity(std::size_t capacity) { capacity_.store(capacity, std::memory_order_relaxed); }
  std::size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> capacity_;
  std::atomic<std::size_t> used_{0};
};

// A session's share of the budget, given back exactly once. Move-only.
class DescriptorShare {
 public:
  // A session is two sockets: its client's and, from the dial on, its backend's.
  static constexpr std::size_t kPerSession = 2;

  DescriptorShare() = default;
  // Empty when the budget is used up.
  explicit DescriptorShare(DescriptorBudget& budget)
      : budget_(budget.take(kPerSession) ? &budget : nullptr) {}
  DescriptorShare(DescriptorShare&& other) noexcept : budget_(other.budget_) {
    other.budget_ = nullptr;
  }
  DescriptorShare& operator=(DescriptorShare&& other) noexcept;
  ~DescriptorShare();

  explicit operator bool() const { return budget_ != nullptr; }

 private:
  DescriptorBudget* budget_ = nullptr;
};

}  // namespace weir::net
