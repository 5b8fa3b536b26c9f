#pragma once

#include "weir/core/dial_outcome.h"
#include "weir/net/keepalive_options.h"
#include "weir/net/socket.h"
#include "weir/net/socket_address.h"

namespace weir::net {

// How a connect began or went on.
struct ConnectState {
  enum class Kind { connected, pending, full, failed };
  Kind kind = Kind::pending;  // `full`: a unix listener's queue has no room now; try again soon
  core::DialResult failure;   // for `failed`
};

// Opens a socket and begins to connect it to `to`, from `source` unless that is none. The socket is
// the caller's in every case but `failed` and `full`, where it is empty.
[[nodiscard]] ConnectState begin_connect(const SocketAddress& to, const SocketAddress& source,
                                         const KeepaliveOptions& keepalive, Socket& socket);

// What a watched socket that was `pending` has come to. A backend that accepted, sent a greeting
// and reset before anyone looked counts as connected: its bytes can still be read. One that reset
// without a byte failed.
[[nodiscard]] ConnectState continue_connect(Socket& socket, const SocketAddress& to);

}  // namespace weir::net
