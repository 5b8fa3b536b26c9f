#include "weir/proxy/first_byte.h"

#include "weir/proxy/relay.h"

namespace weir::proxy {

using core::DialOutcome;

std::optional<DialOutcome> FirstByte::look(const Relay& relay, core::TimePoint now) {
  if (relay.answered()) {
    verdict_.answered(now);
    return DialOutcome::connected;
  }
  if (relay.backend_ended() && relay.client_spoke() && !relay.client_ended()) {
    verdict_.failed(DialOutcome::closed_early, now);
    return DialOutcome::closed_early;
  }
  return std::nullopt;
}

core::TimePoint FirstByte::deadline(const Relay& relay) const {
  return relay.asked() == core::kNever ? core::kNever : relay.asked() + timeout_;
}

void FirstByte::timed_out(core::TimePoint now) {
  verdict_.failed(DialOutcome::first_byte_timeout, now);
}

bool FirstByte::may_go_on(const Relay& relay) const {
  return relay.asked() != core::kNever && verdict_.permit().would_count();
}

}  // namespace weir::proxy
