#pragma once

#include <chrono>
#include <functional>

#include "weir/core/time.h"
#include "weir/net/loop.h"
#include "weir/net/timer.h"

namespace weir::net {

// Runs turns of the loop until `condition` holds; false when it did not within `limit`, which is
// generous because a sanitizer on a busy machine is slow. The condition is looked at every few
// milliseconds too, as what it speaks of may be outside the loop.
inline bool turn_until(Loop& loop, const std::function<bool()>& condition,
                       core::Duration limit = std::chrono::seconds(20)) {
  constexpr core::Duration kLook = std::chrono::milliseconds(2);
  const core::TimePoint until = loop.refresh_now() + limit;
  Timer look(loop, [] {});
  while (!condition()) {
    if (loop.refresh_now() >= until) return false;
    look.arm(loop.now() + kLook);
    loop.run_once();
  }
  return true;
}

// Runs turns for as long as `span`, so that what must not happen has had its chance.
inline void turn_for(Loop& loop, core::Duration span) {
  bool over = false;
  Timer end(loop, [&over] { over = true; });
  end.arm(loop.refresh_now() + span);
  while (!over) loop.run_once();
}

}  // namespace weir::net
