#pragma once

#include "weir/core/time.h"

namespace weir::net {

// The monotonic clock, for threads that have no loop whose now() would do. Any thread.
core::TimePoint steady_now();

}  // namespace weir::net
