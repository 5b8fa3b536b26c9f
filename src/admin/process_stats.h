#pragma once

#include <cstdint>

namespace weir::admin {

// What this process takes of the machine; 0 where it cannot be told.
struct ProcessStats {
  std::uint64_t max_fds = 0;         // the limit in force
  std::uint64_t resident_bytes = 0;  // memory
};

ProcessStats process_stats();

}  // namespace weir::admin
