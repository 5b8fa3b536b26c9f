#pragma once

#include "ctl/call.h"

namespace weir::ctl {

// The live screen. The only place that knows curses.
int top(const Call& call);

}  // namespace weir::ctl
