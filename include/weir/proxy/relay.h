#pragma once

#include <optional>
#include <span>

#include "weir/core/close_reason.h"
#include "weir/core/random.h"
#include "weir/core/time.h"
#include "weir/net/socket.h"
#include "weir/proxy/parting.h"
#include "weir/proxy/pipe.h"
#include "weir/proxy/totals.h"
#include "weir/upstream/pool_options.h"

namespace weir::proxy {

// How a relay ended, and how each peer is to be left.
struct RelayEnd {
  core::CloseReason reason;
  Manner client;
  Manner backend;
};

// Two pipes between a client and its backend, and the bounds on them. Every byte a peer sent before
// its FIN reaches the other side before that FIN does; then the FIN is passed on and the other
// direction lives on. A reset becomes a reset, after what the other side may still read. Borrows
// the sockets; one thread.
class Relay {
 public:
  Relay(net::Socket& client, net::Socket& backend, const upstream::TimeoutOptions& timeouts,
        ListenerTotals& totals, core::TimePoint admitted, core::TimePoint now, core::Rng& rng);

  // Moves what can be moved now. The end, when it has come; otherwise wants_turn() says whether to
  // call again in a coming turn although no socket may report anything.
  [[nodiscard]] std::optional<RelayEnd> step(std::span<char> scratch, core::TimePoint now);
  bool wants_turn() const { return wants_turn_; }
  // Whether the next step() is likely to be a long one.
  bool bulk() const { return in_.bulk() || out_.bulk(); }

  // When to call on_deadline(): the earliest bound, kNever if there is none.
  core::TimePoint next_deadline() const;
  [[nodiscard]] std::optional<RelayEnd> on_deadline(core::TimePoint now);

  // The end by somebody else's will, such as a kill or a shutdown.
  RelayEnd cut(core::CloseReason reason) const;

  std::uint64_t bytes_in() const { return in_.bytes(); }
  std::uint64_t bytes_out() const { return out_.bytes(); }
  // When the backend's first byte had been passed on; kNever before.
  core::TimePoint first_byte() const { return first_byte_; }
  // When the client's first byte had been passed on; kNever before.
  core::TimePoint asked() const { return asked_; }
  // Whether the backend has sent a byte, taken by the client or not.
  bool answered() const { return out_.heard(); }
  // Whether the backend has ended or was reset, and everything before that is known.
  bool backend_ended() const;
  // Whether the client has sent a byte, passed on or not.
  bool client_spoke() const;
  // Whether the backend was told that the client sends no more, and the backend has not been reset.
  // It may then have ended for the client's sake.
  bool client_ended() const {
    return in_.state() == Pipe::State::finished && out_.state() != Pipe::State::source_reset;
  }

 private:
  std::optional<RelayEnd> ended() const;
  void note_half_close(core::TimePoint now);
  bool half_closed() const { return half_closed_at_ != core::kNever; }
  core::TimePoint last_moved() const;
  core::Duration stall_bound() const;
  core::TimePoint silence_deadline() const;

  net::Socket& client_;
  net::Socket& backend_;
  const upstream::TimeoutOptions& timeouts_;
  ListenerTotals& totals_;
  Pipe in_;   // client to backend
  Pipe out_;  // backend to client
  bool wants_turn_ = false;
  bool client_ended_first_ = false;
  core::TimePoint started_;
  core::TimePoint session_deadline_;
  core::TimePoint half_closed_at_ = core::kNever;
  core::TimePoint first_byte_ = core::kNever;
  core::TimePoint asked_ = core::kNever;
};

}  // namespace weir::proxy
