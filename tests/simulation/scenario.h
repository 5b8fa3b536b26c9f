#pragma once

#include <cstdint>

#include "weir/core/admission.h"
#include "weir/core/circuit_options.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/random.h"
#include "weir/core/time.h"
#include "weir/upstream/pool_options.h"

namespace weir::simulation {

// How long clients arrive and backends change their minds; what is going on then runs out.
inline constexpr core::Duration kLength = std::chrono::seconds(20);
// Who would answer does so within this, and says its first byte within this again.
inline constexpr core::Duration kPrompt = std::chrono::milliseconds(20);
inline constexpr core::Duration kOneDial = 2 * kPrompt;

template <typename T, std::size_t n>
T one_of(core::Rng& rng, const T (&choices)[n]) {
  return choices[rng.below(n)];
}

inline core::Duration up_to(core::Rng& rng, core::Duration most) {
  return core::Duration(rng.below(static_cast<std::uint64_t>(most.count()) + 1));
}

// What a backend does with the dials that start now.
struct Answer {
  core::DialResult dial;           // timeout = it never answers
  core::Duration within{kPrompt};  // until then the dial has ended
  // What becomes of a connection whose first byte is waited for.
  core::DialOutcome first_byte = core::DialOutcome::connected;

  // Such a backend is back in rotation in time, or it is wedged.
  bool prompt() const {
    return dial.outcome == core::DialOutcome::connected && within <= kPrompt &&
           first_byte == core::DialOutcome::connected;
  }
};

Answer draw_answer(core::Rng& rng);
core::AdmissionLimits draw_limits(core::Rng& rng);
core::CircuitOptions draw_circuit(core::Rng& rng);
// Other limits of the same circuit, as a reload brings them.
core::CircuitOptions retuned(core::Rng& rng, const core::CircuitOptions& from);
// Another configuration of the same backends: limits, thresholds, weights, tiers.
void draw_again(core::Rng& rng, upstream::PoolOptions& pool);

// What one seed makes of a pool and of the times it lives in.
struct Scenario {
  explicit Scenario(core::Rng& rng);

  upstream::PoolOptions pool;
  bool by_first_byte = false;  // a success is the first byte, and the permit is held until then
  bool busy = false;           // clients keep coming, at an even pace
  std::uint64_t arrivals = 0;
  std::uint64_t turns = 0;    // of backends
  std::uint64_t reloads = 0;  // with other limits; some take a listener with them
  std::uint64_t orders = 0;   // an operator's
  std::uint64_t recoveries = 0;
  std::uint64_t jumps = 0;  // of the clock; whatever was due meanwhile comes late
  bool shuts_down = false;  // before the last client has come
};

}  // namespace weir::simulation
