#pragma once

#include "tests/simulation/scenario.h"
#include "weir/core/circuit_state.h"
#include "weir/core/time.h"

namespace weir::simulation {

// For how long a circuit may keep a backend out that would answer: what is left of its HALF_OPEN,
// whose probes may hang, one open time, and one dial. Longer, and the backend is wedged.
class Rotation {
 public:
  // Something happened for which the circuit may keep it out once more: a failure that counts, a
  // probe that ended undecided, an order, a stalled clock. `open` is the longest open time; one
  // that has begun has its end already.
  void begin_again(core::TimePoint now, const core::CircuitStatus& status, core::Duration open) {
    core::TimePoint open_from = now;
    if (status.phase == core::CircuitPhase::half_open) open_from = status.half_open_until;
    back_by_ = status.phase == core::CircuitPhase::open ? status.open_until : open_from + open;
    back_by_ = status.forced_open ? core::kNever : back_by_ + kOneDial;
  }
  void set_answers(bool answers) { answers_ = answers; }
  bool answers() const { return answers_; }

  // HALF_OPEN began now. Others are refused while the probe is on its way, however late the round.
  void probed(core::TimePoint now) { probe_ends_ = now + kOneDial; }

  bool may_refuse(core::TimePoint now) const {
    return !answers_ || now <= back_by_ || now <= probe_ends_;
  }

 private:
  bool answers_ = false;
  core::TimePoint back_by_{};
  core::TimePoint probe_ends_{};
};

}  // namespace weir::simulation
