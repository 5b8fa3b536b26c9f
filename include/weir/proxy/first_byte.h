#pragma once

#include <optional>
#include <utility>

#include "weir/core/dial_outcome.h"
#include "weir/core/time.h"
#include "weir/upstream/pending_verdict.h"

namespace weir::proxy {

class Relay;

// `circuit_success: first_byte`: a connection whose backend has yet to answer. Success is its first
// byte; failure is an end without one although the client has said something, or silence for longer
// than `first_byte_timeout` after the client's first byte was passed on. Between a silent client
// and a silent backend nothing is decided, nor by a backend that ends in good order after its
// client has: a client that gives up by an ordinary close looks like that. One thread.
class FirstByte {
 public:
  FirstByte(upstream::PendingVerdict verdict, core::Duration timeout)
      : verdict_(std::move(verdict)), timeout_(timeout) {}

  // Looks at the relay after it has moved. The outcome once it is decided, and then the verdict has
  // been given.
  [[nodiscard]] std::optional<core::DialOutcome> look(const Relay& relay, core::TimePoint now);

  // When a backend that has not answered by then has failed; kNever before it was asked.
  core::TimePoint deadline(const Relay& relay) const;
  void timed_out(core::TimePoint now);

  // The client has left: whether the wait may go on without it, which needs a place of its own.
  bool may_go_on(const Relay& relay) const;
  upstream::PendingVerdict take() { return std::move(verdict_); }

 private:
  upstream::PendingVerdict verdict_;
  const core::Duration timeout_;
};

}  // namespace weir::proxy
