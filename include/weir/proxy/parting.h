#pragma once

#include <cstdint>
#include <span>

#include "weir/core/time.h"
#include "weir/net/socket.h"

namespace weir::proxy {

// How weir takes leave of one peer.
enum class Manner : std::uint8_t {
  close,   // both ends were seen and passed on: nothing is left to say
  finish,  // FIN, then read on until the peer has acknowledged everything: it was silent, but a
           // close with unread input would be a reset, which can destroy what it has yet to read
  linger,  // FIN, then read on until the peer ends too: it may be in the middle of sending, and
           // must see an end in good order, not a reset
  reset,   // RST, once the peer's kernel has everything sent before: what it may still read
  abort,   // RST now: what was sent is incomplete, and must not look like an end in good order
};

// One socket on its way to being closed, bounded in time. One thread.
class Parting {
 public:
  Parting() = default;  // nobody to take leave of
  // `bound` 0 means to close at once.
  Parting(net::Socket& socket, Manner manner, core::Duration bound, core::TimePoint now);

  // Goes on with it; true once the socket is closed. Call when the socket is ready, and at
  // next_look().
  bool step(net::Socket& socket, std::span<char> scratch, core::TimePoint now);
  core::TimePoint next_look() const { return next_look_; }
  // The peer has more to throw away, but others have waited long enough: go on in a coming turn.
  bool wants_turn() const { return wants_turn_; }

 private:
  bool gone();
  bool drained(net::Socket& socket, std::span<char> scratch);

  Manner manner_ = Manner::close;
  bool peer_still_sends_ = false;
  bool wants_turn_ = false;
  core::TimePoint until_{};
  core::Duration pause_{};  // between looks at what is unacknowledged; doubles
  core::TimePoint next_look_ = core::kNever;
};

}  // namespace weir::proxy
