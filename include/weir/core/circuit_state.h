#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/core/time.h"

namespace weir::core {

// CLOSED admits everybody, OPEN nobody, HALF_OPEN a few probes. The words of name() are those of
// the API and the metrics.
enum class CircuitPhase : std::uint8_t { closed, open, half_open };
inline constexpr std::size_t kCircuitPhases = static_cast<std::size_t>(CircuitPhase::half_open) + 1;

std::string_view name(CircuitPhase phase);

// Why a circuit changed its phase: one closed list, the same words in the journal and the tests.
enum class TransitionCause : std::uint8_t {
  consecutive_failures,  // max_fails reached
  failure_rate,          // the share of failures in the window reached
  probe_started,         // OPEN was over and a client came
  probe_succeeded,
  probe_failed,
  half_open_expired,  // no probe had a verdict in time
  health_recovered,   // an active check found the backend healthy again
  operator_open,
  operator_close,
  upgraded,  // it was open in the process before this one
};
inline constexpr std::size_t kTransitionCauses =
    static_cast<std::size_t>(TransitionCause::upgraded) + 1;

std::string_view name(TransitionCause cause);

// One change of phase.
struct Transition {
  CircuitPhase from;
  CircuitPhase to;
  std::uint64_t epoch;  // the one that begins
  TimePoint at;         // of half_open_expired the bound itself, however late somebody noticed
  TransitionCause cause;
  TimePoint until{};  // the earliest end of OPEN, the bound on HALF_OPEN
};

// Is told every transition, in order. Called on whichever thread caused or noticed it, under the
// circuit's mutex: it must be quick, must not throw, and must not call the circuit.
class CircuitObserver {
 public:
  virtual ~CircuitObserver() = default;
  virtual void on_transition(const Transition& transition) = 0;
};

// A circuit at one moment; all fields belong together.
struct CircuitStatus {
  static constexpr std::uint32_t kUnbounded = UINT32_MAX;

  CircuitPhase phase = CircuitPhase::closed;
  std::uint64_t epoch = 0;
  std::uint32_t fails = 0;      // in a row, since the circuit last closed
  TimePoint open_until{};       // OPEN refuses until then; of the last OPEN in other phases
  TimePoint half_open_until{};  // HALF_OPEN lasts until then; of the last one in other phases
  bool probe_due = false;       // OPEN is over and waits for a client to be the probe
  bool enabled = true;          // false: the kill switch is on
  bool bypassed = false;        // by an operator
  bool forced_open = false;     // by an operator, whatever open_until says
  std::uint32_t probes_in_flight = 0;
  std::uint32_t probes_remaining = 0;  // free probe slots in HALF_OPEN, kUnbounded; else 0
  std::uint64_t stale_results = 0;     // verdicts that came after their epoch
  std::uint64_t rejects = 0;           // admissions refused
  std::array<std::uint64_t, kCircuitPhases> transitions{};  // by the phase they led to

  // Whether a client would have had leave to dial at that moment.
  bool admits() const;
};

}  // namespace weir::core
