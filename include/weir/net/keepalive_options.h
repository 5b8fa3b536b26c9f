#pragma once

#include "weir/core/time.h"

namespace weir::net {

// TCP keepalive and TCP_USER_TIMEOUT of both legs; 0 leaves the system's setting in place.
struct KeepaliveOptions {
  core::Duration idle = std::chrono::seconds(60);          // silence before the first probe
  core::Duration interval = std::chrono::seconds(10);      // between probes
  int count = 3;                                           // unanswered probes before giving up
  core::Duration user_timeout = std::chrono::seconds(90);  // unacknowledged data for this long
  bool operator==(const KeepaliveOptions&) const = default;
};

}  // namespace weir::net
