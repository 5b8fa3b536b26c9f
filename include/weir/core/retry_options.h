#pragma once

#include "weir/core/time.h"

namespace weir::core {

// Dialling again after a failed dial, before any byte of the client was passed on.
struct RetryOptions {
  bool enabled = true;          // false = one dial, no more
  int attempts = 0;             // dials after the first; 0 = every eligible backend once
  Duration deadline{0};         // over all attempts and waits; 0 = bounded by connect x attempts
  Duration backoff_initial{0};  // wait before a retry; 0 = at once
  Duration backoff_max = std::chrono::milliseconds(500);  // the doubling wait stops growing here
  bool operator==(const RetryOptions&) const = default;
};

}  // namespace weir::core
