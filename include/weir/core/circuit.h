#pragma once

// Locking: `closed_epoch_` and `success_counts_` are read without a lock and written under the
// mutex; everything else is read and written under the mutex alone. A closed circuit without
// failures on record is never locked, unless its rate trigger is on; whoever finds the gate at 0
// takes the mutex. So does every failure, the threshold being tested where it is counted.
//
// A permit or a success that meets the gate just before another thread trips the circuit simply
// happened before the trip; nothing waits for the gate to be seen.

#include <atomic>
#include <cassert>
#include <cstdint>
#include <mutex>
#include <utility>

#include "weir/core/circuit_options.h"
#include "weir/core/circuit_state.h"
#include "weir/core/outcome_window.h"
#include "weir/core/random.h"
#include "weir/core/time.h"

namespace weir::core {

class Circuit;

// Leave to dial one backend. It ends with one verdict at most, succeed() or fail(); destroyed
// without one it is neutral: it decides nothing, and a probe's slot is free again. A verdict that
// comes after the permit's epoch changes nothing. Move-only; a moved-from permit is empty. The
// circuit outlives it; any thread may hold it.
class Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept
      : circuit_(std::exchange(other.circuit_, nullptr)),
        epoch_(other.epoch_),
        probe_(other.probe_) {}
  Permit& operator=(Permit&& other) noexcept {
    Permit taken(std::move(other));
    std::swap(circuit_, taken.circuit_);
    std::swap(epoch_, taken.epoch_);
    std::swap(probe_, taken.probe_);
    return *this;
  }
  ~Permit();

  void succeed(TimePoint now);
  void fail(TimePoint now);
  explicit operator bool() const { return circuit_ != nullptr; }
  // An ordinary permit of a circuit that is closed still, in the same epoch: a failure would count.
  // A glance at the gate, no lock.
  bool would_count() const;
  // Given in HALF_OPEN.
  bool probe() const { return probe_; }
  // The circuit's when it gave this permit; 0 if it did not ask for a verdict.
  std::uint64_t epoch() const;

 private:
  friend class Circuit;
  Permit(Circuit& circuit, std::uint64_t epoch, bool probe)
      : circuit_(&circuit), epoch_(epoch), probe_(probe) {}

  Circuit* circuit_ = nullptr;
  std::uint64_t epoch_ = 0;
  bool probe_ = false;
};

// Whether a backend that failed may be dialled again: CLOSED, OPEN, HALF_OPEN. Shared by all
// workers, any thread may call anything. Every question and every verdict first sees to it that a
// HALF_OPEN which has outlasted its bound is OPEN again, or a probe that never ends would keep its
// backend out for good.
class Circuit {
 public:
  // `seed` is for the jitter; circuits that should not probe in step need different ones. The
  // observer may be null, and outlives the circuit.
  Circuit(const CircuitOptions& options, std::uint64_t seed, CircuitObserver* observer = nullptr);
  Circuit(const Circuit&) = delete;
  Circuit& operator=(const Circuit&) = delete;

  // Whether admit() would grant; looking claims nothing.
  bool eligible(TimePoint now) {
    return closed_epoch_.load(std::memory_order_acquire) != 0 || eligible_slowly(now);
  }

  // An empty permit is a refusal: choose again without this backend. Ask only for the backend that
  // is dialled next: the permit may be its one probe.
  [[nodiscard]] Permit admit(TimePoint now) {
    const std::uint64_t epoch = closed_epoch_.load(std::memory_order_acquire);
    return epoch != 0 ? Permit(*this, epoch, false) : admit_slowly(now);
  }

  // An active check found the backend healthy after it was not: closed, with no history, unless an
  // operator forced it open.
  void recovered(TimePoint now);

  // Other thresholds and bounds from now on. Phase, deadlines and counts stay as they are.
  void set_options(const CircuitOptions& options, TimePoint now);

  // An operator's orders. The last one holds, except that close() leaves a bypass in force.
  void force_open(TimePoint now);  // refuses everybody until close() or automatic()
  void close(TimePoint now);       // closed, with no history; automatic from there
  void bypass();                   // admits all and takes no verdict; the state below is kept
  void automatic(TimePoint now);   // goes on by itself; after a forced open the probe is due

  // Takes up where another process left off, which had this status: failures, how long OPEN lasts,
  // an operator's orders. What was half open there is OPEN until the bound on that: its probes are
  // the other's. Once, of a circuit that nobody has asked anything yet.
  void restore(const CircuitStatus& before, TimePoint now);

  CircuitStatus status(TimePoint now);  // one moment, seen under the mutex

 private:
  friend class Permit;

  // In the gate and in permits: nobody is refused and no verdict is taken.
  static constexpr std::uint64_t kPassThrough = UINT64_MAX;

  enum class Order : std::uint8_t { automatic, open, bypass };

  bool eligible_slowly(TimePoint now);
  Permit admit_slowly(TimePoint now);
  void take_success(std::uint64_t epoch, TimePoint now) {
    // The healthy path: two loads and no store.
    if (closed_epoch_.load(std::memory_order_acquire) == epoch &&
        !success_counts_.load(std::memory_order_relaxed)) {
      return;
    }
    take_success_slowly(epoch, now);
  }
  void take_success_slowly(std::uint64_t epoch, TimePoint now);
  void take_failure(std::uint64_t epoch, TimePoint now);
  void give_back_probe(std::uint64_t epoch);

  // The rest needs the mutex.
  bool passes_all() const { return !options_.enabled || order_ == Order::bypass; }
  bool would_admit(TimePoint now);
  bool probe_slot_free() const;
  bool takes_verdict(std::uint64_t epoch, TimePoint now);
  void settle(TimePoint now);
  void trip_if_rate_reached(TimePoint now);
  void open(TimePoint at, TimePoint until, TransitionCause cause);
  void begin_half_open(TimePoint now);
  void close_clean(TimePoint now, TransitionCause cause);
  void enter(CircuitPhase to, TimePoint at, TransitionCause cause);
  TimePoint end_of_open(TimePoint start);
  void set_fails(std::uint32_t fails);
  void publish();

  // The gate and the token in one word: 0 = take the mutex; kPassThrough; anything else = CLOSED,
  // and this is the epoch. Apart from what is written under the mutex, so that a backend which
  // refuses or counts for its window does not take the line away from those who only look.
  alignas(64) std::atomic<std::uint64_t> closed_epoch_{0};
  // A success has something to do: failures to forget, or a window to be counted in.
  std::atomic<bool> success_counts_{false};

  alignas(64) std::mutex mutex_;
  CircuitOptions options_;
  Rng rng_;
  CircuitObserver* const observer_;
  CircuitPhase phase_ = CircuitPhase::closed;
  Order order_ = Order::automatic;
  std::uint64_t epoch_ = 1;  // rises with every transition
  std::uint32_t fails_ = 0;
  std::uint32_t probes_in_flight_ = 0;
  TimePoint open_until_{};
  TimePoint half_open_until_{};
  OutcomeWindow window_;
  std::uint64_t stale_results_ = 0;
  std::uint64_t rejects_ = 0;
  std::array<std::uint64_t, kCircuitPhases> transitions_{};
};

inline Permit::~Permit() {
  // Ordinary permits hold nothing.
  if (circuit_ != nullptr && probe_) circuit_->give_back_probe(epoch_);
}

inline void Permit::succeed(TimePoint now) {
  assert(circuit_ != nullptr);
  Circuit& circuit = *std::exchange(circuit_, nullptr);
  if (epoch_ != Circuit::kPassThrough) circuit.take_success(epoch_, now);
}

inline void Permit::fail(TimePoint now) {
  assert(circuit_ != nullptr);
  Circuit& circuit = *std::exchange(circuit_, nullptr);
  if (epoch_ != Circuit::kPassThrough) circuit.take_failure(epoch_, now);
}

inline bool Permit::would_count() const {
  return circuit_ != nullptr && !probe_ && epoch_ != Circuit::kPassThrough &&
         circuit_->closed_epoch_.load(std::memory_order_acquire) == epoch_;
}

inline std::uint64_t Permit::epoch() const { return epoch_ == Circuit::kPassThrough ? 0 : epoch_; }

}  // namespace weir::core
