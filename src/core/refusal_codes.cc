#include "core/refusal_codes.h"

namespace weir::core {
namespace {

// 53300 too_many_connections; ER_CON_COUNT_ERROR. Applications wait and try again.
constexpr RefusalCodes kFull{"53300", 1040, "08004", Http2Error::enhance_your_calm,
                             GrpcStatus::unavailable};
// 57P03 cannot_connect_now, as of a server that starts; ER_UNKNOWN_ERROR, as MySQL has no such
// code.
constexpr RefusalCodes kNotNow{"57P03", 1105, "HY000", Http2Error::refused_stream,
                               GrpcStatus::unavailable};
// 57P01 admin_shutdown; ER_SERVER_SHUTDOWN. Pools of connections drop theirs and make a new one.
constexpr RefusalCodes kShutdown{"57P01", 1053, "08S01", Http2Error::no_error,
                                 GrpcStatus::unavailable};
// 57P05 idle_session_timeout; ER_NET_READ_INTERRUPTED, "timeout reading communication packets".
constexpr RefusalCodes kIdle{"57P05", 1159, "08S01", Http2Error::no_error, GrpcStatus::unavailable};
// 08006 connection_failure: PostgreSQL's 57014 for a slow login would be read as a cancelled query.
constexpr RefusalCodes kSlowClient{"08006", 1159, "08S01", Http2Error::protocol_error,
                                   GrpcStatus::unavailable};
// 08P01 protocol_violation; ER_HANDSHAKE_ERROR, ER_NET_PACKET_TOO_LARGE.
constexpr RefusalCodes kMalformed{"08P01", 1043, "08S01", Http2Error::protocol_error,
                                  GrpcStatus::internal};
constexpr RefusalCodes kTooLarge{"08P01", 1153, "08S01", Http2Error::protocol_error,
                                 GrpcStatus::internal};
// 08004 sqlserver_rejected_establishment_of_sqlconnection: weir's configuration leads nowhere.
// Not 3D000 or ER_BAD_DB_ERROR, as routes do not look at the database.
constexpr RefusalCodes kNoRoute{"08004", 1105, "HY000", Http2Error::refused_stream,
                                GrpcStatus::unavailable};
// 28000 invalid_authorization_specification, as of a pg_hba.conf that rejects;
// ER_HOST_NOT_PRIVILEGED, as a MySQL server says before its greeting. ER_ACCESS_DENIED_ERROR (1045)
// would send people to look for a wrong password, while it is their address that is refused.
constexpr RefusalCodes kDenied{"28000", 1130, "HY000", Http2Error::refused_stream,
                               GrpcStatus::permission_denied};
// 58000 system_error: weir's own trouble, mostly descriptors or memory.
constexpr RefusalCodes kLocal{"58000", 1105, "HY000", Http2Error::internal_error,
                              GrpcStatus::internal};

}  // namespace

std::optional<RefusalCodes> refusal_codes(CloseReason reason) {
  switch (reason) {
    case CloseReason::client_closed:
    case CloseReason::client_reset:
    case CloseReason::client_left_queue:
      return {};  // nobody reads it
    case CloseReason::backend_closed:
    case CloseReason::backend_reset:
      return {};  // the backend's own end is passed on
    case CloseReason::half_close_timeout:
    case CloseReason::write_stall:
      return {};  // one side has ended or reads nothing, in the middle of a relay
    case CloseReason::tls_handshake_failed:
    case CloseReason::unknown_server_name:
      return {};  // a TLS alert has said it; plain bytes would only hide that
    case CloseReason::idle_timeout:
      return kIdle;
    case CloseReason::session_timeout:
    case CloseReason::killed:
    case CloseReason::backend_drained:
    case CloseReason::shutdown:
      return kShutdown;
    case CloseReason::proxy_overloaded:
    case CloseReason::pending_timeout:
    case CloseReason::backend_at_capacity:
    case CloseReason::source_limit:
    case CloseReason::listener_full:
      return kFull;
    case CloseReason::upstream_unavailable:
    case CloseReason::circuit_open:
    case CloseReason::upstream_connect_failed:
    case CloseReason::upstream_timeout:
    case CloseReason::upstream_tls_identity:
    case CloseReason::upstream_tls_failed:
    case CloseReason::first_byte_timeout:
    case CloseReason::retry_budget_exhausted:
    case CloseReason::retry_deadline_exhausted:
      return kNotNow;
    case CloseReason::preface_timeout:
      return kSlowClient;
    case CloseReason::preface_malformed:
      return kMalformed;
    case CloseReason::preface_too_large:
      return kTooLarge;
    case CloseReason::no_route:
      return kNoRoute;
    case CloseReason::access_denied:
      return kDenied;
    case CloseReason::local_error:
      return kLocal;
  }
  return {};
}

}  // namespace weir::core
