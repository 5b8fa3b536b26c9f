#include "weir/core/dial_outcome.h"

#include <cassert>

namespace weir::core {

std::string_view name(DialOutcome outcome) {
  switch (outcome) {
    case DialOutcome::connected:
      return "connected";
    case DialOutcome::refused:
      return "refused";
    case DialOutcome::reset:
      return "reset";
    case DialOutcome::unreachable:
      return "unreachable";
    case DialOutcome::timeout:
      return "timeout";
    case DialOutcome::tls_identity:
      return "tls_identity";
    case DialOutcome::tls_failed:
      return "tls_failed";
    case DialOutcome::first_byte_timeout:
      return "first_byte_timeout";
    case DialOutcome::closed_early:
      return "closed_early";
    case DialOutcome::resolve_failed:
      return "resolve_failed";
    case DialOutcome::local_error:
      return "local_error";
    case DialOutcome::cancelled:
      return "cancelled";
  }
  return {};
}

Verdict verdict(DialOutcome outcome) {
  switch (outcome) {
    case DialOutcome::connected:
      return Verdict::success;
    case DialOutcome::refused:
    case DialOutcome::reset:
    case DialOutcome::unreachable:
    case DialOutcome::timeout:
    case DialOutcome::tls_identity:
    case DialOutcome::tls_failed:
    case DialOutcome::first_byte_timeout:
    case DialOutcome::closed_early:
    case DialOutcome::resolve_failed:  // a backend without an address cannot be reached from here
      return Verdict::failure;
    case DialOutcome::local_error:
    case DialOutcome::cancelled:
      return Verdict::neutral;
  }
  return Verdict::neutral;
}

DialResult more_telling(DialResult earlier, DialResult later) {
  return later.no_local_port && verdict(earlier.outcome) == Verdict::failure ? earlier : later;
}

bool retryable(DialResult result) {
  switch (result.outcome) {
    case DialOutcome::refused:
    case DialOutcome::reset:
    case DialOutcome::unreachable:
    case DialOutcome::timeout:
    case DialOutcome::tls_failed:
    case DialOutcome::resolve_failed:
      return true;
    case DialOutcome::first_byte_timeout:  // bytes of the client were passed on, or may have been
                                           // read
    case DialOutcome::closed_early:
    case DialOutcome::tls_identity:  // perhaps an attack: nobody gets a second try
    case DialOutcome::connected:
    case DialOutcome::cancelled:
      return false;
    case DialOutcome::local_error:
      return result.no_local_port;
  }
  return false;
}

CloseReason close_reason(DialOutcome outcome) {
  switch (outcome) {
    case DialOutcome::refused:
    case DialOutcome::reset:
    case DialOutcome::unreachable:
    case DialOutcome::resolve_failed:
    case DialOutcome::closed_early:
      return CloseReason::upstream_connect_failed;
    case DialOutcome::timeout:
      return CloseReason::upstream_timeout;
    case DialOutcome::tls_identity:
      return CloseReason::upstream_tls_identity;
    case DialOutcome::tls_failed:
      return CloseReason::upstream_tls_failed;
    case DialOutcome::first_byte_timeout:
      return CloseReason::first_byte_timeout;
    case DialOutcome::local_error:
      return CloseReason::local_error;
    case DialOutcome::cancelled:
      // Whoever cancels knows better (killed, shutdown, backend_drained); a client that left during
      // the dial is what is left over.
      return CloseReason::client_closed;
    case DialOutcome::connected:
      break;
  }
  assert(false && "a dial that connected is no reason to end");
  return CloseReason::local_error;
}

}  // namespace weir::core
