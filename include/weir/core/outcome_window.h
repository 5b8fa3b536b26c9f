#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/core/time.h"

namespace weir::core {

// Successes and failures of the last while, in a fixed array of time slices: it allocates nothing
// and keeps no outcome by itself. It slides by one slice at a time, so that an outcome counts for
// at least nine tenths of the window and never for longer than all of it. Not thread-safe.
class OutcomeWindow {
 public:
  static constexpr std::size_t kSlices = 10;

  struct Tally {
    std::uint64_t samples = 0;
    std::uint64_t failures = 0;
  };

  // How far it looks back; 0 = it counts nothing. Another length keeps what it still covers.
  void set_length(Duration length);

  // A `now` before an earlier one, from a thread whose clock is a turn behind, counts as that one.
  void add(TimePoint now, bool failed);
  Tally tally(TimePoint now);
  void clear();

 private:
  Tally& slice(std::int64_t index) { return slices_[static_cast<std::size_t>(index) % kSlices]; }
  // Empties the slices that the window has left behind.
  void slide_to(TimePoint now);

  std::array<Tally, kSlices> slices_{};
  Duration width_{0};        // of a slice
  std::int64_t newest_ = 0;  // index of the slice that is being filled, counted from time 0
};

}  // namespace weir::core
