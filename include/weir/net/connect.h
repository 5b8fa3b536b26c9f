#pragma once

#include "weir/core/dial_outcome.h"
#include "weir/net/socket.h"
#include "weir/net/socket_address.h"

namespace weir::net {

// How a connect began or went on.
struct ConnectState {
  enum class Kind { connected, pending, full, failed };
  Kind kind = Kind::pending;  // `full`: a unix listener's queue has no room now; try again soon
  core::DialResult failure;   // for `failed`
};

struct ConnectOptions {
  // Local address to connect from; none = the kernel's choice. An address of the other family
  // cannot be reached from it.
  SocketAddress source;
  // Bytes are waiting to be sent as soon as the connection stands. The last packet of the handshake
  // then travels with them instead of alone, which saves each side a packet; without them a backend
  // that speaks first would wait 40 ms for it. Acknowledgements are held back from then on: give
  // the socket hold_acknowledgements(false) once the bytes are sent.
  bool data_follows = false;
  // The connection will be reset as soon as it stands. The last packet of the handshake is then the
  // reset, and the program at the other side never hears of it; with a whole handshake it might,
  // and be reading by the time the reset comes. The kernel waits some 200 ms before it sends that
  // packet by itself.
  bool reset_follows = false;
};

// Opens a socket and begins to connect it to `to`. The socket is the caller's in every case but
// `failed` and `full`, where it is empty.
[[nodiscard]] ConnectState begin_connect(const SocketAddress& to, const ConnectOptions& options,
                                         Socket& socket);

// What a watched socket that was `pending` has come to. A backend that accepted, sent a greeting
// and reset before anyone looked counts as connected: its bytes can still be read. One that reset
// without a byte failed.
[[nodiscard]] ConnectState continue_connect(Socket& socket, const SocketAddress& to);
// The same, asking the kernel instead of what the set has seen: when time is up, for a thread that
// was late to look.
ConnectState ask_connect(Socket& socket, const SocketAddress& to);

}  // namespace weir::net
