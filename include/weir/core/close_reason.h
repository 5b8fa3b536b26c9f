#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::core {

// Why a session ended: one closed list, the same words in the access log, the metrics, the API and
// the tests. The order is that of the contract; names come from name().
enum class CloseReason : std::uint8_t {
  client_closed,
  backend_closed,
  client_reset,
  backend_reset,
  idle_timeout,
  half_close_timeout,
  write_stall,
  session_timeout,
  no_route,
  proxy_overloaded,
  pending_timeout,
  client_left_queue,
  upstream_unavailable,
  circuit_open,
  backend_at_capacity,
  upstream_connect_failed,
  upstream_timeout,
  upstream_tls_identity,
  upstream_tls_failed,
  first_byte_timeout,
  retry_budget_exhausted,
  retry_deadline_exhausted,
  preface_timeout,
  preface_malformed,
  preface_too_large,
  unknown_server_name,
  tls_handshake_failed,
  source_limit,
  listener_full,
  access_denied,
  local_error,
  killed,
  backend_drained,
  shutdown,
};
inline constexpr std::size_t kCloseReasons = static_cast<std::size_t>(CloseReason::shutdown) + 1;

std::string_view name(CloseReason reason);

// Who ended the session.
enum class Party : std::uint8_t { client, backend, weir };

std::string_view name(Party party);
// The party that a reason puts the end on: `client_*` and `backend_*` of the first four, else weir.
Party closed_by(CloseReason reason);

}  // namespace weir::core
