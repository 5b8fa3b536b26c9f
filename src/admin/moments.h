#pragma once

#include <chrono>
#include <string>

#include "weir/admin/snapshot.h"
#include "weir/net/wall_clock.h"

namespace weir::admin {

// A moment on the loops' clock as the time of day that it had or will have.
inline net::WallTime time_of_day(const Snapshot& snapshot, core::TimePoint moment) {
  return snapshot.taken_at + std::chrono::floor<std::chrono::milliseconds>(moment - snapshot.taken);
}

inline std::string text(net::WallTime moment) {
  std::string written;
  net::WallClock().append(written, moment);
  return written;
}

}  // namespace weir::admin
