#include "weir/net/steady_clock.h"

namespace weir::net {

core::TimePoint steady_now() { return std::chrono::steady_clock::now(); }

}  // namespace weir::net
