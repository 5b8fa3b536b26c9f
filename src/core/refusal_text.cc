#include <fmt/format.h>

#include "weir/core/refusal.h"

namespace weir::core {
namespace {

// "{}" stands for "pool orders" or "listener orders", whichever the words are about.
struct Words {
  std::string_view text;
  bool about_listener = false;
};

Words words(CloseReason reason) {
  constexpr bool kListener = true;
  switch (reason) {
    case CloseReason::client_closed:
      return {"the client closed the connection to {}", kListener};
    case CloseReason::backend_closed:
      return {"a backend of {} closed the connection"};
    case CloseReason::client_reset:
      return {"the client reset the connection to {}", kListener};
    case CloseReason::backend_reset:
      return {"a backend of {} reset the connection"};
    case CloseReason::idle_timeout:
      return {"nothing was sent either way for longer than {} allows"};
    case CloseReason::half_close_timeout:
      return {"one side ended and the other was silent for longer than {} allows"};
    case CloseReason::write_stall:
      return {"what was sent was not read for longer than {} allows"};
    case CloseReason::session_timeout:
      return {"the connection is as old as {} allows"};
    case CloseReason::no_route:
      return {"no pool is meant for this connection to {}", kListener};
    case CloseReason::proxy_overloaded:
      return {"too many connections wait for {}"};
    case CloseReason::pending_timeout:
      return {"no place became free in time in {}"};
    case CloseReason::client_left_queue:
      return {"the client left while it waited for {}"};
    case CloseReason::upstream_unavailable:
      return {"no backend is available in {}"};
    case CloseReason::circuit_open:
      return {"backends failed and are not tried for a while in {}"};
    case CloseReason::backend_at_capacity:
      return {"every backend has as many connections as it may have in {}"};
    case CloseReason::upstream_connect_failed:
      return {"no backend could be connected to in {}"};
    case CloseReason::upstream_timeout:
      return {"no backend answered in time in {}"};
    case CloseReason::upstream_tls_identity:
      return {"a backend's certificate does not show its name in {}"};
    case CloseReason::upstream_tls_failed:
      return {"TLS to a backend failed in {}"};
    case CloseReason::first_byte_timeout:
      return {"a backend took the connection and said nothing in time in {}"};
    case CloseReason::retry_budget_exhausted:
      return {"a backend failed, and too many others were tried lately, in {}"};
    case CloseReason::retry_deadline_exhausted:
      return {"backends failed until the time to try them was over in {}"};
    case CloseReason::preface_timeout:
      return {"the connection to {} did not begin in time", kListener};
    case CloseReason::preface_malformed:
      return {"the connection to {} does not begin as its protocol does", kListener};
    case CloseReason::preface_too_large:
      return {"the connection to {} begins with more than is read", kListener};
    case CloseReason::unknown_server_name:
      return {"{} has no certificate for the name that was asked for", kListener};
    case CloseReason::tls_handshake_failed:
      return {"the TLS handshake with {} failed", kListener};
    case CloseReason::source_limit:
      return {"too many connections from this address to {}", kListener};
    case CloseReason::listener_full:
      return {"too many connections to {}", kListener};
    case CloseReason::access_denied:
      return {"this address may not connect to {}", kListener};
    case CloseReason::local_error:
      return {"an error of its own at {}, see its log", kListener};
    case CloseReason::killed:
      return {"the connection to {} was ended by an administrator", kListener};
    case CloseReason::backend_drained:
      return {"the backend is taken out of service in {}"};
    case CloseReason::shutdown:
      return {"{} is shutting down", kListener};
  }
  return {};
}

std::string subject(std::string_view kind, std::string_view named) {
  return named.empty() ? fmt::format("this {}", kind) : fmt::format("{} {}", kind, named);
}

}  // namespace

std::string refusal_text(CloseReason reason, const RefusalPlace& place) {
  const Words said = words(reason);
  const std::string about =
      said.about_listener ? subject("listener", place.listener) : subject("pool", place.pool);
  return fmt::format("weir: {} ({})", fmt::format(fmt::runtime(said.text), about), name(reason));
}

}  // namespace weir::core
