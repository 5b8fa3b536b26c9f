#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::core {

// How many events fell into the current slice of time and the `slices - 1` before it. Slices are
// numbered by whoever knows how long they are. Allocates nothing; not thread-safe.
template <std::size_t slices>
class SlidingCount {
 public:
  // A number below an earlier one, from a clock that is behind, means that earlier one.
  void add(std::int64_t slice) {
    slide_to(slice);
    ++at(newest_);
    ++sum_;
  }

  std::uint64_t count(std::int64_t slice) {
    slide_to(slice);
    return sum_;
  }

 private:
  std::uint32_t& at(std::int64_t slice) {
    return counts_[static_cast<std::size_t>(slice) % slices];
  }

  void slide_to(std::int64_t slice) {
    if (slice - newest_ >= static_cast<std::int64_t>(slices)) {
      counts_ = {};
      sum_ = 0;
      newest_ = slice;
    }
    while (newest_ < slice) {
      std::uint32_t& reused = at(++newest_);
      sum_ -= reused;
      reused = 0;
    }
  }

  std::array<std::uint32_t, slices> counts_{};
  std::uint64_t sum_ = 0;
  std::int64_t newest_ = 0;
};

}  // namespace weir::core
