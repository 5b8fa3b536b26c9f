#pragma once

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
  Slot& operator=(Slot&& other) noexcept {
    Slot taken(std::move(other));
    std::swap(from_, taken.from_);
    return *this;
  }
  ~Slot() { release(); }

  // May grant the slot to the waiter that is next in line, and call its watcher.
  void release() noexcept {
    if (from_ != nullptr) give_back(*std::exchange(from_, nullptr));
  }
  explicit operator bool() const { return from_ != nullptr; }

 private:
  friend class Admission;
  explicit Slot(Admission& from) : from_(&from) {}

  static void give_back(Admission& from) noexcept;

  Admission* from_ = nullptr;
};

}  // namespace weir::core
