#include "weir/core/close_reason.h"

namespace weir::core {

std::string_view name(CloseReason reason) {
  switch (reason) {
    case CloseReason::client_closed:
      return "client_closed";
    case CloseReason::backend_closed:
      return "backend_closed";
    case CloseReason::client_reset:
      return "client_reset";
    case CloseReason::backend_reset:
      return "backend_reset";
    case CloseReason::idle_timeout:
      return "idle_timeout";
    case CloseReason::half_close_timeout:
      return "half_close_timeout";
    case CloseReason::write_stall:
      return "write_stall";
    case CloseReason::session_timeout:
      return "session_timeout";
    case CloseReason::no_route:
      return "no_route";
    case CloseReason::proxy_overloaded:
      return "proxy_overloaded";
    case CloseReason::pending_timeout:
      return "pending_timeout";
    case CloseReason::client_left_queue:
      return "client_left_queue";
    case CloseReason::upstream_unavailable:
      return "upstream_unavailable";
    case CloseReason::circuit_open:
      return "circuit_open";
    case CloseReason::backend_at_capacity:
      return "backend_at_capacity";
    case CloseReason::upstream_connect_failed:
      return "upstream_connect_failed";
    case CloseReason::upstream_timeout:
      return "upstream_timeout";
    case CloseReason::upstream_tls_identity:
      return "upstream_tls_identity";
    case CloseReason::upstream_tls_failed:
      return "upstream_tls_failed";
    case CloseReason::first_byte_timeout:
      return "first_byte_timeout";
    case CloseReason::retry_budget_exhausted:
      return "retry_budget_exhausted";
    case CloseReason::retry_deadline_exhausted:
      return "retry_deadline_exhausted";
    case CloseReason::preface_timeout:
      return "preface_timeout";
    case CloseReason::preface_malformed:
      return "preface_malformed";
    case CloseReason::preface_too_large:
      return "preface_too_large";
    case CloseReason::unknown_server_name:
      return "unknown_server_name";
    case CloseReason::tls_handshake_failed:
      return "tls_handshake_failed";
    case CloseReason::source_limit:
      return "source_limit";
    case CloseReason::listener_full:
      return "listener_full";
    case CloseReason::access_denied:
      return "access_denied";
    case CloseReason::local_error:
      return "local_error";
    case CloseReason::killed:
      return "killed";
    case CloseReason::backend_drained:
      return "backend_drained";
    case CloseReason::shutdown:
      return "shutdown";
  }
  return {};
}

std::string_view name(Party party) {
  switch (party) {
    case Party::client:
      return "client";
    case Party::backend:
      return "backend";
    case Party::weir:
      return "weir";
  }
  return {};
}

Party closed_by(CloseReason reason) {
  switch (reason) {
    case CloseReason::client_closed:
    case CloseReason::client_reset:
      return Party::client;
    case CloseReason::backend_closed:
    case CloseReason::backend_reset:
      return Party::backend;
    case CloseReason::idle_timeout:
    case CloseReason::half_close_timeout:
    case CloseReason::write_stall:
    case CloseReason::session_timeout:
    case CloseReason::no_route:
    case CloseReason::proxy_overloaded:
    case CloseReason::pending_timeout:
    case CloseReason::client_left_queue:
    case CloseReason::upstream_unavailable:
    case CloseReason::circuit_open:
    case CloseReason::backend_at_capacity:
    case CloseReason::upstream_connect_failed:
    case CloseReason::upstream_timeout:
    case CloseReason::upstream_tls_identity:
    case CloseReason::upstream_tls_failed:
    case CloseReason::first_byte_timeout:
    case CloseReason::retry_budget_exhausted:
    case CloseReason::retry_deadline_exhausted:
    case CloseReason::preface_timeout:
    case CloseReason::preface_malformed:
    case CloseReason::preface_too_large:
    case CloseReason::unknown_server_name:
    case CloseReason::tls_handshake_failed:
    case CloseReason::source_limit:
    case CloseReason::listener_full:
    case CloseReason::access_denied:
    case CloseReason::local_error:
    case CloseReason::killed:
    case CloseReason::backend_drained:
    case CloseReason::shutdown:
      return Party::weir;
  }
  return Party::weir;
}

}  // namespace weir::core
