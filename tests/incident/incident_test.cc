#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/circuits.h"
#include "tests/incident/crowd.h"
#include "tests/incident/saturated_backend.h"

// An incident that happened, replayed: a burst fills the queue of a server that works on whatever
// was asked, long after everybody has given up. The burst ends, and nobody is served any more:
// every answer comes too late, and those who gave up come back.
namespace weir::e2e {
namespace {

using core::CircuitPhase;

// One second of the incident.
milliseconds second() { return slow() ? 200ms : 100ms; }
std::string seconds_of(int count) { return fmt::format("{}ms", (count * second()).count()); }

// 16 requests a second of the incident: four hands, a quarter of a second each.
constexpr int kCapacity = 16;
constexpr int kBurst = 20;
constexpr int kAfter = 60;
constexpr int kSlice = 5;          // seconds a line of the table
constexpr int kTwoOpenTimes = 25;  // fail_timeout and all of its jitter, twice

struct Replay {
  std::vector<Crowd::Slice> slices;
  std::vector<bool> open;  // whether the circuit was, at some time of a slice
  std::size_t looks_while_open = 0;
  std::size_t connects_while_open = 0;  // as the backend counts
  std::uint64_t trips = 0;
};

// Watches for connections that the backend gets while its circuit is open.
class OpenWatch {
 public:
  OpenWatch(const TestWeir& weir, const SaturatedBackend& backend, Replay& replay)
      : weir_(weir), backend_(backend), replay_(replay) {}

  void look() {
    const auto now = Clock::now();
    if (now - looked_ < second() / 20) return;
    looked_ = now;
    const core::CircuitStatus status = circuit(weir_);
    const auto slice = static_cast<std::size_t>((now - start_) / (kSlice * second()));
    if (replay_.open.size() <= slice) replay_.open.resize(slice + 1);
    replay_.trips = status.transitions[static_cast<std::size_t>(CircuitPhase::open)];
    if (status.phase != CircuitPhase::open) {
      since_.reset();
      return;
    }
    replay_.open[slice] = true;
    // Dials that were under way when it tripped are given half a second to be accepted; and the
    // count is read before it is known that the circuit was open still.
    if (!since_ || epoch_ != status.epoch) {
      since_ = now;
      epoch_ = status.epoch;
      base_.reset();
    }
    if (now - *since_ < second() / 2) return;
    const std::size_t accepted = backend_.accepted();
    if (circuit(weir_).epoch != epoch_) return;
    ++replay_.looks_while_open;
    if (base_ && accepted > *base_) replay_.connects_while_open += accepted - *base_;
    base_ = accepted;
  }

 private:
  const TestWeir& weir_;
  const SaturatedBackend& backend_;
  Replay& replay_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point looked_{};
  std::optional<Clock::time_point> since_;
  std::uint64_t epoch_ = 0;
  std::optional<std::size_t> base_;
};

Replay replay(int workers, bool with_circuit) {
  SaturatedBackend backend(4, second() / 4);
  const std::string resilience = fmt::format(
      "circuit_enabled: {}, circuit_success: first_byte, first_byte_timeout: {}, max_fails: 1000, "
      "fail_timeout: {}, circuit_window: {}, circuit_min_samples: 20, circuit_jitter: 0.25",
      with_circuit, seconds_of(2), seconds_of(10), seconds_of(30));
  TestWeir weir(circuits_yaml(workers, resilience, {{backend.address()}}));
  Crowd crowd(weir.address(), {3 * second(), second() / 2}, kSlice * second());
  const double capacity = kCapacity / std::chrono::duration<double>(second()).count();
  Replay result;
  OpenWatch watch(weir, backend, result);
  result.slices =
      crowd.run({{kBurst * second(), 2 * capacity}, {kAfter * second(), 0.8 * capacity}},
                [&watch] { watch.look(); });
  return result;
}

// The share of those who came from that second on, to the end.
double share_from(const Replay& replay, int from) {
  Crowd::Slice sum;
  for (auto i = static_cast<std::size_t>((from + kSlice - 1) / kSlice); i < replay.slices.size();
       ++i) {
    sum.came += replay.slices[i].came;
    sum.answered += replay.slices[i].answered;
  }
  return sum.share();
}

void print(int workers, const Replay& without, const Replay& with) {
  std::string table = fmt::format(
      "\nincident, {} workers: answered in time\n second    load   no circuit   circuit\n",
      workers);
  for (std::size_t i = 0; i < without.slices.size() && i < with.slices.size(); ++i) {
    const int from = static_cast<int>(i) * kSlice;
    table += fmt::format("{:3}..{:<3} {:5}%       {:5.1f}%    {:5.1f}% {}\n", from, from + kSlice,
                         from < kBurst ? 200 : 80, 100 * without.slices[i].share(),
                         100 * with.slices[i].share(),
                         i < with.open.size() && with.open[i] ? "open" : "");
  }
  std::fputs(table.c_str(), stdout);
}

void check_recovery(const Replay& with) {
  CHECK(share_from(with, kBurst + kTwoOpenTimes) > 0.95);
  CHECK(with.trips > 0);
  CHECK(with.looks_while_open > 20);
  CHECK(with.connects_while_open == 0);
}

TEST_CASE("the incident: without a circuit a burst outlives itself, with one it is over soon") {
  const Replay without = replay(2, false);
  const Replay with = replay(2, true);
  print(2, without, with);
  CHECK(share_from(without, kBurst + kAfter - kSlice) < 0.05);
  CHECK(without.trips == 0);
  check_recovery(with);
}

TEST_CASE("the incident with one worker") { check_recovery(replay(1, true)); }

TEST_CASE("the incident with four workers") { check_recovery(replay(4, true)); }

}  // namespace
}  // namespace weir::e2e
