#include "weir/proxy/parting.h"

#include <algorithm>

namespace weir::proxy {
namespace {

using net::IoResult;

// Whether the peer's kernel has all that was sent. What a unix socket took is with the peer already
// and outlives the close.
bool delivered(const net::Socket& socket) {
  return !socket.is_tcp() || socket.unacknowledged() == 0;
}

// The kernel does not report when the last byte was acknowledged, so it is asked: soon at first,
// then less often. A delayed acknowledgement takes 40 ms.
constexpr core::Duration kFirstPause = std::chrono::milliseconds(1);
constexpr core::Duration kLongestPause = std::chrono::milliseconds(50);

}  // namespace

Parting::Parting(net::Socket& socket, Manner manner, core::Duration bound, core::TimePoint now)
    : manner_(manner), until_(now + bound), pause_(kFirstPause), next_look_(now) {
  if (!socket) return;
  if (manner == Manner::finish || manner == Manner::linger) socket.shutdown_write();
  if (manner == Manner::close) socket.close();
  if (manner == Manner::abort) socket.abort();
}

bool Parting::step(net::Socket& socket, std::span<char> scratch, core::TimePoint now) {
  if (!socket) return gone();
  const bool patient = manner_ == Manner::linger || peer_still_sends_;
  if (drained(socket, scratch) || now >= until_ || (!patient && delivered(socket))) {
    if (manner_ == Manner::reset) {
      socket.abort();
    } else {
      socket.close();
    }
    return gone();
  }
  if (patient) {
    next_look_ = until_;  // the socket itself reports the peer's end
  } else if (now >= next_look_) {
    next_look_ = std::min(now + pause_, until_);
    pause_ = std::min(pause_ * 2, kLongestPause);
  }
  return false;
}

bool Parting::gone() {
  next_look_ = core::kNever;
  wants_turn_ = false;
  return true;
}

// Throws away what the peer still sends; true when it has ended or failed.
bool Parting::drained(net::Socket& socket, std::span<char> scratch) {
  wants_turn_ = false;
  // A reset is for a peer whose bytes nobody wants: reading them would only delay it.
  if (manner_ == Manner::reset) return socket.peer_failed();
  while (socket.readable()) {
    const IoResult got = socket.read(scratch);
    if (got.status == IoResult::Status::blocked) return false;
    if (got.status != IoResult::Status::done) return true;
    peer_still_sends_ = true;
    // One buffer a turn: a peer that sends without end must not hold up the others.
    if (got.bytes == scratch.size()) {
      wants_turn_ = true;
      return false;
    }
  }
  return false;
}

}  // namespace weir::proxy
