#pragma once

#include <atomic>
#include <cstdint>

namespace weir::core {

// A total with one writer: its thread adds with a plain load and store, any thread reads. Kept per
// worker, so that counting and reading cost the data path nothing.
class Counter {
 public:
  void add(std::uint64_t count = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace weir::core
