#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <utility>

namespace weir::core {

class Admission;

// Leave to be one of a pool's sessions, given back exactly once: by release(), by assigning over it
// or by the destructor. Move-only; a moved-from slot is empty. It counts in the Admission that gave
// it, which must outlive it; any thread may hold and release it.
class Slot {
 public:
  Slot() = default;
  Slot(Slot&& other) noexcept : from_(std::exchange(other.from_, nullptr)) {}
  Slot& operator=(Slot&& other) noexcept;
  ~Slot() { release(); }

  void release() noexcept;
  explicit operator bool() const { return from_ != nullptr; }

 private:
  friend class Admission;
  explicit Slot(Admission* from) : from_(from) {}

  Admission* from_ = nullptr;
};

// How many sessions a pool has, from admission to their end. Shared by all workers.
// The bound, the queue and what to do with those who find it full are decided in admit().
class Admission {
 public:
  Admission() = default;
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission() { assert(active() == 0); }

  // An empty slot would be a refusal; without a bound nobody is refused.
  [[nodiscard]] Slot admit() {
    active_.fetch_add(1, std::memory_order_relaxed);
    return Slot(this);
  }

  std::uint64_t active() const { return active_.load(std::memory_order_relaxed); }

 private:
  friend class Slot;

  std::atomic<std::uint64_t> active_{0};
};

inline Slot& Slot::operator=(Slot&& other) noexcept {
  Slot taken(std::move(other));
  std::swap(from_, taken.from_);
  return *this;
}

inline void Slot::release() noexcept {
  if (Admission* from = std::exchange(from_, nullptr)) {
    [[maybe_unused]] const std::uint64_t before =
        from->active_.fetch_sub(1, std::memory_order_relaxed);
    assert(before > 0);
  }
}

}  // namespace weir::core
