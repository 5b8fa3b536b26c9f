#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "workload.h"

namespace weir::bench {

// What a workload has cost its threads together.
struct Sample {
  std::uint64_t operations = 0;
  std::uint64_t allocations = 0;
  std::chrono::nanoseconds cpu{0};
  std::chrono::nanoseconds clock{0};  // from the first operation to the last, of all threads
};

// Runs it with as many threads, all at the same time and for about as long. What an operation
// throws is thrown here.
Sample measure(Workload& workload, std::size_t threads, std::chrono::nanoseconds length);

}  // namespace weir::bench
