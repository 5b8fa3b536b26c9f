#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weir::net {

// The time of day, which can be set and may jump: to be shown, never to wait by.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;
WallTime wall_now();

// The time of day as logs and the API write it: `2026-01-31T23:59:59.123Z`. One a thread: the part
// that changes once a second is kept.
class WallClock {
 public:
  void append_now(std::string& to) { append(to, wall_now()); }
  void append(std::string& to, WallTime moment);

 private:
  std::int64_t second_ = -1;
  std::string prefix_;
};

}  // namespace weir::net
