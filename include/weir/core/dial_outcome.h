#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/core/close_reason.h"

namespace weir::core {

// How one dial ended; the same words in attempts, totals and metrics.
enum class DialOutcome : std::uint8_t {
  connected,
  refused,
  reset,
  unreachable,
  timeout,
  tls_identity,
  tls_failed,
  first_byte_timeout,
  closed_early,
  resolve_failed,
  local_error,  // ours, whatever the backend: descriptors, memory
  cancelled,    // nobody waits for it any more
};
inline constexpr std::size_t kDialOutcomes = static_cast<std::size_t>(DialOutcome::cancelled) + 1;

std::string_view name(DialOutcome outcome);

// What a dial's end says about the backend.
enum class Verdict : std::uint8_t { success, failure, neutral };

// One failure, as those who decide about it need it: nobody above the dial looks at errno.
struct DialResult {
  DialOutcome outcome = DialOutcome::connected;
  // EADDRNOTAVAIL: no local port is left towards that address, so `local_error` is not the whole
  // machine's and another backend may be tried.
  bool no_local_port = false;
};

Verdict verdict(DialOutcome outcome);

// What a dial over several addresses comes to: the later result, unless it is only that this
// machine could not try that address, which undoes nothing that an earlier one says of the backend.
DialResult more_telling(DialResult earlier, DialResult later);

// Whether another backend may be tried after this.
bool retryable(DialResult result);

// How the session ends when this was the last dial; `connected` has no such reason.
CloseReason close_reason(DialOutcome outcome);

}  // namespace weir::core
