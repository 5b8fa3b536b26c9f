#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace weir::bench {

// Something the core does for every session, over and over.
class Workload {
 public:
  virtual ~Workload() = default;

  // Does a batch of operations, long enough that the call and a look at the clock are no part of
  // their cost; answers how many. Threads 0, 1, ... call it at the same time.
  virtual std::uint64_t run(std::size_t thread) = 0;
};

// A workload by its name, to be made for a number of threads.
struct NamedWorkload {
  std::string_view name;
  std::unique_ptr<Workload> (*make)(std::size_t threads);
};

std::span<const NamedWorkload> admission_workloads();
std::span<const NamedWorkload> circuit_workloads();

inline constexpr std::uint64_t kBatch = 256;

}  // namespace weir::bench
