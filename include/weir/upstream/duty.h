#pragma once

#include "weir/core/time.h"

namespace weir::upstream {

// Whether a backend may take new sessions, by the word of an operator or of a reload: the
// administrative gate. Sessions that it has run on, until the end of a drain.
struct Duty {
  bool disabled = false;                       // by an operator
  bool draining = false;                       // likewise, perhaps with an end
  bool removed = false;                        // gone from the configuration
  core::TimePoint drain_until = core::kNever;  // of a drain that ends

  bool takes_sessions() const { return !disabled && !draining && !removed; }
};

}  // namespace weir::upstream
