#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include "weir/core/circuit.h"
#include "workload.h"

namespace weir::bench {
namespace {

using namespace std::chrono_literals;

// A backend that is well. Time goes on by a microsecond with each dial, as it would at a million
// dials a second, so that the window slides.
class Healthy final : public Workload {
 public:
  Healthy(const core::CircuitOptions& options, std::size_t threads)
      : circuit_(options, 1), clocks_(threads) {}

  std::uint64_t run(std::size_t thread) override {
    core::TimePoint& now = clocks_[thread].now;
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      now += 1us;
      core::Permit permit = circuit_.admit(now);
      if (!permit) throw std::logic_error("a closed circuit refused");
      permit.succeed(now);
    }
    return kBatch;
  }

 private:
  // 64 bytes is a cache line: each thread has its own.
  struct alignas(64) Clock {
    core::TimePoint now{1000s};
  };

  core::Circuit circuit_;
  std::vector<Clock> clocks_;
};

std::unique_ptr<Workload> consecutive(std::size_t threads) {
  return std::make_unique<Healthy>(core::CircuitOptions{}, threads);
}

std::unique_ptr<Workload> rate(std::size_t threads) {
  return std::make_unique<Healthy>(core::CircuitOptions{.window = 10s}, threads);
}

constexpr std::array kAll{
    NamedWorkload{"circuit, closed: admit, succeed", consecutive},
    NamedWorkload{"circuit, closed, rate window on: admit, succeed", rate},
};

}  // namespace

std::span<const NamedWorkload> circuit_workloads() { return kAll; }

}  // namespace weir::bench
