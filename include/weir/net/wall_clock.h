#pragma once

#include <cstdint>
#include <string>

namespace weir::net {

// The time of day as logs and the API write it: `2026-01-31T23:59:59.123Z`. One a thread: the part
// that changes once a second is kept.
class WallClock {
 public:
  void append_now(std::string& to);

 private:
  std::int64_t second_ = -1;
  std::string prefix_;
};

}  // namespace weir::net
