#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/core/close_reason.h"
#include "weir/core/http2_refusal.h"

namespace weir::core {

// One reason in the codes of each protocol.
struct RefusalCodes {
  std::string_view postgres_sqlstate;
  std::uint16_t mysql_code = 0;
  std::string_view mysql_sqlstate;  // the one that MySQL gives this code
  Http2Error http2 = Http2Error::no_error;
  GrpcStatus grpc = GrpcStatus::unavailable;  // on which clients may try again
};

// Empty for a reason that is not told to the client.
std::optional<RefusalCodes> refusal_codes(CloseReason reason);

// Of a client that skips TLS where it is required. PostgreSQL's is that of a pg_hba.conf without a
// line for unencrypted connections.
inline constexpr RefusalCodes kRefusalWithoutTls{
    "28000", 3159, "HY000", Http2Error::inadequate_security, GrpcStatus::permission_denied};

}  // namespace weir::core
