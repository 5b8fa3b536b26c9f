#include "weir/proxy/relay.h"

#include <algorithm>

namespace weir::proxy {
namespace {

using core::CloseReason;
using core::Duration;
using core::TimePoint;

// The whole session's bound, less up to a tenth: sessions that began together, after a restart,
// must not end together.
TimePoint session_deadline(Duration session, TimePoint admitted, core::Rng& rng) {
  if (session == Duration::zero()) return core::kNever;
  const auto tenth = static_cast<std::uint64_t>(session.count() / 10);
  return admitted + session - Duration(static_cast<std::int64_t>(rng.below(tenth + 1)));
}

// Whether the peer was reset, or on a unix socket has closed: it takes nothing any more. Only for a
// socket that weir has not ended towards, for which both ends together look the same.
bool gone(const net::Socket& socket) { return socket.peer_failed(); }

}  // namespace

Relay::Relay(net::Socket& client, net::Socket& backend, const upstream::TimeoutOptions& timeouts,
             ListenerTotals& totals, TimePoint admitted, TimePoint now, core::Rng& rng)
    : client_(client),
      backend_(backend),
      timeouts_(timeouts),
      totals_(totals),
      started_(now),
      session_deadline_(session_deadline(timeouts.session, admitted, rng)) {}

std::optional<RelayEnd> Relay::step(std::span<char> scratch, TimePoint now) {
  const Pipe::Next in = in_.pump(client_, backend_, scratch, now, totals_.bytes_in,
                                 out_.state() == Pipe::State::finished);
  const Pipe::Next out = out_.pump(backend_, client_, scratch, now, totals_.bytes_out,
                                   in_.state() == Pipe::State::finished);
  wants_turn_ = in == Pipe::Next::resume || out == Pipe::Next::resume;
  if (first_byte_ == core::kNever && out_.bytes() > 0) first_byte_ = now;
  if (asked_ == core::kNever && in_.bytes() > 0) asked_ = now;
  note_half_close(now);
  return ended();
}

void Relay::note_half_close(TimePoint now) {
  if (half_closed()) return;
  const bool in = in_.state() == Pipe::State::finished;
  const bool out = out_.state() == Pipe::State::finished;
  if (!in && !out) return;
  half_closed_at_ = now;
  client_ended_first_ = in;
}

std::optional<RelayEnd> Relay::ended() const {
  using State = Pipe::State;
  if (in_.state() == State::source_reset) {
    return RelayEnd{CloseReason::client_reset, Manner::close, Manner::reset};
  }
  if (out_.state() == State::source_reset) {
    return RelayEnd{CloseReason::backend_reset, Manner::reset, Manner::close};
  }
  if (in_.state() == State::finished && out_.state() == State::finished) {
    return RelayEnd{client_ended_first_ ? CloseReason::client_closed : CloseReason::backend_closed,
                    Manner::close, Manner::close};
  }
  // The backend ended in good order, and takes nothing any more: its answer is complete and must
  // arrive, whatever becomes of what the client still sends.
  if (out_.state() == State::finished) {
    if (in_.state() == State::sink_broken) {
      return RelayEnd{CloseReason::backend_closed, Manner::linger, Manner::close};
    }
    if (gone(backend_)) {
      return RelayEnd{CloseReason::backend_closed, Manner::finish, Manner::close};
    }
  }
  // The client sent all it had, and did not wait for the answer: on TCP it was reset, on a unix
  // socket it has closed in good order.
  if (in_.state() == State::finished && (out_.state() == State::sink_broken || gone(client_))) {
    if (client_.is_tcp()) return RelayEnd{CloseReason::client_reset, Manner::close, Manner::reset};
    return RelayEnd{CloseReason::client_closed, Manner::close, Manner::finish};
  }
  return std::nullopt;
}

bool Relay::backend_ended() const {
  return out_.state() == Pipe::State::finished || out_.state() == Pipe::State::source_reset;
}

bool Relay::client_spoke() const {
  return in_.heard() || (client_ && client_.peek() == net::IoResult::Status::done);
}

TimePoint Relay::last_moved() const {
  return std::max({started_, in_.last_moved(), out_.last_moved()});
}

Duration Relay::stall_bound() const {
  return timeouts_.write_stall != Duration::zero() ? timeouts_.write_stall : timeouts_.idle;
}

TimePoint Relay::silence_deadline() const {
  if (!half_closed()) return core::deadline(last_moved(), timeouts_.idle);
  const Duration bound =
      timeouts_.half_close != Duration::zero() ? timeouts_.half_close : timeouts_.idle;
  return core::deadline(std::max(last_moved(), half_closed_at_), bound);
}

TimePoint Relay::next_deadline() const {
  if (!in_.stalled() && !out_.stalled()) return std::min(session_deadline_, silence_deadline());
  // A reader that does not read is what the session waits for now; silence begins after it.
  const Duration bound = stall_bound();
  if (bound == Duration::zero()) return session_deadline_;
  return std::min({session_deadline_, in_.stall_check(bound), out_.stall_check(bound)});
}

std::optional<RelayEnd> Relay::on_deadline(TimePoint now) {
  if (now >= session_deadline_) return cut(CloseReason::session_timeout);
  if (in_.stalled() || out_.stalled()) {
    const Duration bound = stall_bound();
    if (bound == Duration::zero()) return std::nullopt;
    if (in_.stalled_for(bound, backend_, now)) {
      return RelayEnd{CloseReason::write_stall, Manner::reset, Manner::abort};
    }
    if (out_.stalled_for(bound, client_, now)) {
      return RelayEnd{CloseReason::write_stall, Manner::abort, Manner::reset};
    }
    return std::nullopt;
  }
  if (now < silence_deadline()) return std::nullopt;
  return RelayEnd{half_closed() ? CloseReason::half_close_timeout : CloseReason::idle_timeout,
                  Manner::finish, Manner::finish};
}

RelayEnd Relay::cut(CloseReason reason) const {
  // Whoever was in the middle of receiving must see that the rest is missing; the others may be in
  // the middle of sending.
  const auto manner = [](const Pipe& towards, const net::Socket& source) {
    const bool more = towards.state() == Pipe::State::flowing && source.readable();
    return more || towards.stalled() ? Manner::abort : Manner::linger;
  };
  return {reason, manner(out_, backend_), manner(in_, client_)};
}

}  // namespace weir::proxy
