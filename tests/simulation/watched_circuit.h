#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/core/circuit_model.h"
#include "tests/simulation/laws.h"
#include "tests/simulation/rotation.h"
#include "weir/core/circuit.h"
#include "weir/core/dial_outcome.h"

namespace weir::simulation {

// A backend's circuit under watch: what happens to it happens to a plain model as well, and what
// may change with it is checked each time. Watching must not help: a circuit that is asked for its
// status notices that its HALF_OPEN is over, so it is only looked at with a clock that has not
// begun (peek).
class WatchedCircuit {
 public:
  using Leave = core::CircuitModel::Leave;

  // `seed` is the circuit's own. Circuit and laws outlive it.
  WatchedCircuit(core::Circuit& circuit, const core::CircuitOptions& options, std::uint64_t seed,
                 Laws& laws)
      : circuit_(circuit), options_(options), laws_(laws), model_(options, seed) {}

  // Only the model knows at once. `stalled`: nobody came in between, for the clock jumped.
  void clock(core::TimePoint now, bool stalled);
  void backend_turned(bool answers);
  const core::CircuitOptions& options() const { return options_; }

  bool admits() const { return model_.eligible(); }  // by the model
  core::CircuitStatus peek() const { return circuit_.status(core::TimePoint::min()); }
  const core::CircuitModel& model() const { return model_; }

  // Around a look at the candidates.
  void before_look() { before_ = peek(); }
  void passed_over();
  // `mute`: nobody will speak on that connection, so it will hold the permit undecided.
  Leave chosen(const core::Permit& permit, bool mute);
  void asked();  // the look has reached this backend's tier

  void end(core::Permit permit, const Leave& leave, core::Verdict verdict);

  void recovered();
  void retuned(const core::CircuitOptions& options);  // by a reload, which has just done it
  void force_open();
  void close();
  void bypass();
  void automatic();

  // After every step; `probes` is how many connections hold a probe's permit of this epoch.
  void compare(std::uint32_t probes);
  void check_at_rest();

 private:
  bool expired(const core::CircuitStatus& status) const {
    return status.phase == core::CircuitPhase::half_open && now_ >= status.half_open_until;
  }
  bool expiry(const core::CircuitStatus& before, core::CircuitStatus after) const;
  bool open_time(core::TimePoint from, core::TimePoint until) const;
  core::Duration longest_open() const;
  void check_verdict(const core::CircuitStatus& before, const core::CircuitStatus& after,
                     const Leave& leave, core::Verdict verdict);
  void check_current(const core::CircuitStatus& before, const core::CircuitStatus& after,
                     const Leave& leave, core::Verdict verdict);
  void begin_again() { rotation_.begin_again(now_, model_.status(), longest_open()); }

  core::Circuit& circuit_;
  core::CircuitOptions options_;
  Laws& laws_;
  core::CircuitModel model_;
  Rotation rotation_;
  core::TimePoint now_{};
  core::CircuitStatus before_;
};

}  // namespace weir::simulation
