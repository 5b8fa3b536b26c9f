// The measurement of scripts/bench core: rounds in which every workload of weir's core runs with
// every number of threads. One JSON line for each run, on standard output.
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "measure.h"
#include "tests/core/allocations.h"
#include "tools/bench/arguments.h"
#include "workload.h"

namespace weir::bench {
namespace {

constexpr std::string_view kUsage = "usage: weir-bench-core [rounds=1] [milliseconds=100]\n";

constexpr std::array<std::size_t, 4> kThreads{1, 2, 4, 8};

// A count of 0 says nothing if nobody counts, as under a sanitizer.
void see_that_allocations_are_counted() {
  const std::uint64_t before = allocations();
  ::operator delete(::operator new(1));
  if (allocations() == before) {
    throw std::runtime_error("allocations are not counted in this build: use a release");
  }
}

void measure_all(std::span<const NamedWorkload> workloads, std::uint64_t round,
                 std::chrono::milliseconds length) {
  for (const NamedWorkload& named : workloads) {
    for (const std::size_t threads : kThreads) {
      const std::unique_ptr<Workload> workload = named.make(threads);
      const Sample sample = measure(*workload, threads, length);
      fmt::print(R"({{"workload": "{}", "threads": {}, "round": {}, "operations": {}, )"
                 R"("allocations": {}, "cpu_ns": {}, "clock_ns": {}}})"
                 "\n",
                 named.name, threads, round, sample.operations, sample.allocations,
                 sample.cpu.count(), sample.clock.count());
      std::fflush(stdout);
    }
  }
}

void run(const std::vector<std::string_view>& words) {
  Arguments arguments(words, kUsage);
  const auto rounds = arguments.take("rounds", std::uint64_t{1});
  const std::chrono::milliseconds length(arguments.take("milliseconds", std::uint32_t{100}));
  arguments.expect_nothing_left();
  see_that_allocations_are_counted();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    measure_all(admission_workloads(), round, length);
    measure_all(circuit_workloads(), round, length);
  }
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  try {
    weir::bench::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "weir-bench-core: {}\n", problem.what());
    return 1;
  }
}
