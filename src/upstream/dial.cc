#include "weir/upstream/dial.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "weir/net/loop.h"
#include "weir/net/timer.h"
#include "weir/upstream/pool.h"

namespace weir::upstream {
namespace {

using core::DialOutcome;
using core::DialResult;
using net::ConnectState;

// How soon a unix backend whose accept queue is full is asked again, as the kernel does not say
// when there is room: soon at first, then less and less often, each client at its own time.
constexpr core::Duration kQueueFullFirst = std::chrono::milliseconds(5);
constexpr core::Duration kQueueFullMost = std::chrono::milliseconds(100);

}  // namespace

Dial::Dial(const DialContext& context, Pool& pool, Selection selection, const Terms& terms,
           net::Timer& timer, std::vector<Attempt>& attempts, Owner& owner)
    : context_(context),
      pool_(pool),
      selection_(std::move(selection)),
      terms_(terms),
      counters_{&selection_.lease->dials(context.worker),
                terms.retry ? &pool.totals(context.worker).retries : nullptr},
      started_(context.loop.now()),
      timer_(&timer),
      attempts_(&attempts),
      owner_(&owner),
      dialing_(selection_.lease->count_dial()),
      address_started_(started_) {}

Dial::~Dial() {
  if (!selection_.lease) return;
  counters_.add(DialOutcome::cancelled);
  if (socket_) socket_.abort();
}

void Dial::start() {
  const core::Endpoint& endpoint = selection_.lease->options().address;
  if (endpoint.kind != core::Endpoint::Kind::name) return dial_address();
  if (const net::Addresses known = context_.resolver.cached(endpoint.host, started_)) {
    return resolved(known);
  }
  lookup_ = context_.resolver.lookup(endpoint.host, context_.loop,
                                     [this](const net::Addresses& answer) { resolved(answer); });
  wait_until(terms_.deadline, Phase::resolving);
}

void Dial::resolved(const net::Addresses& addresses) {
  lookup_.reset();
  if (!addresses) {
    record(DialOutcome::resolve_failed);
    return failed({DialOutcome::resolve_failed, false});
  }
  addresses_ = addresses;
  dial_address();
}

void Dial::dial_address() {
  const core::TimePoint now = context_.loop.now();
  address_started_ = now;
  queue_full_pause_ = core::Backoff(kQueueFullFirst, kQueueFullMost);
  // Each address gets an even share of what is left, so that one that hangs leaves time for the
  // others within the same bound.
  const auto shares = static_cast<std::int64_t>(addresses() - address_);
  address_deadline_ = now + (terms_.deadline - now) / shares;
  if (addresses_) {
    with_port_ = (*addresses_)[address_].with_port(selection_.lease->options().address.port);
  }
  connect_once();
}

void Dial::connect_once() {
  net::ConnectOptions options;
  options.data_follows = terms_.data_follows;
  if (target().family() != AF_UNIX) options.source = pool_.source();
  handle(net::begin_connect(target(), options, socket_));
}

void Dial::handle(const ConnectState& state) {
  if (state.kind == ConnectState::Kind::failed) return address_failed(state.failure);
  if (state.kind == ConnectState::Kind::full) {
    const core::Duration pause = queue_full_pause_.next(context_.rng);
    return wait_until(std::min(context_.loop.now() + pause, address_deadline_), Phase::queue_full);
  }
  if (phase_ != Phase::connecting && !socket_.watch(context_.loop.sockets(), *this)) {
    return address_failed({DialOutcome::local_error, false});
  }
  if (state.kind == ConnectState::Kind::pending) {
    return wait_until(address_deadline_, Phase::connecting);
  }
  connected();
}

void Dial::connected() {
  record(DialOutcome::connected);
  Connection connection{std::move(socket_), {}, {}};
  if (pool_.options().resilience.circuit_success == CircuitSuccess::first_byte) {
    connection.verdict = PendingVerdict(std::move(selection_.permit), counters_);
  } else {
    counters_.add(DialOutcome::connected);
    selection_.permit.succeed(context_.loop.now());
  }
  connection.lease = std::move(selection_.lease);
  dialing_ = {};
  phase_ = Phase::idle;
  timer_->cancel();
  owner_->on_dial_connected(std::move(connection));
}

void Dial::on_ready() {
  if (phase_ != Phase::connecting) return;
  handle(net::continue_connect(socket_, target()));
}

void Dial::on_timer() {
  switch (phase_) {
    case Phase::idle:
      return;
    case Phase::resolving:
      lookup_.reset();
      record(DialOutcome::resolve_failed);
      return failed({DialOutcome::resolve_failed, false});
    case Phase::queue_full:
      if (context_.loop.now() < address_deadline_) return connect_once();
      return address_failed({DialOutcome::timeout, false});
    case Phase::connecting:
      return address_failed({DialOutcome::timeout, false});
  }
}

void Dial::address_failed(DialResult result) {
  record(result.outcome);
  told_ = core::more_telling(told_, result);
  if (socket_) socket_.abort();
  phase_ = Phase::idle;
  const bool ours = result.outcome == DialOutcome::local_error && !result.no_local_port;
  if (!ours && address_ + 1 < addresses() && context_.loop.now() < terms_.deadline) {
    ++address_;
    return dial_address();
  }
  failed(told_);
}

void Dial::failed(DialResult result) {
  counters_.add(result.outcome);
  const core::TimePoint now = context_.loop.now();
  // A backend that had less than `connect` to answer in, because the client's own time ran out, has
  // not failed.
  const bool hurried = terms_.hurried && now >= terms_.deadline;
  if (!hurried && core::verdict(result.outcome) == core::Verdict::failure) {
    selection_.permit.fail(now);
  }
  selection_ = {};
  dialing_ = {};
  phase_ = Phase::idle;
  timer_->cancel();
  owner_->on_dial_ended(result);
}

bool Dial::go_alone() {
  if (!selection_.permit.would_count() || !selection_.lease.go_alone()) return false;
  attempts_ = nullptr;
  if (terms_.hurried) {
    terms_.hurried = false;
    terms_.deadline = started_ + pool_.options().timeouts.connect;
    if (address_ + 1 == addresses()) address_deadline_ = terms_.deadline;
    if (phase_ == Phase::resolving) wake_at_ = terms_.deadline;
    if (phase_ == Phase::connecting) wake_at_ = address_deadline_;
  }
  return true;
}

void Dial::hand_over(net::Timer& timer, Owner& owner) {
  timer_ = &timer;
  owner_ = &owner;
  timer_->arm(wake_at_);
}

void Dial::wait_until(core::TimePoint at, Phase phase) {
  phase_ = phase;
  wake_at_ = at;
  timer_->arm(at);
}

Attempt Dial::attempt(DialOutcome outcome) const {
  Attempt attempt;
  attempt.backend = &*selection_.lease;
  if (addresses_) attempt.resolved = std::make_unique<std::string>(with_port_.text());
  attempt.outcome = outcome;
  attempt.took = context_.loop.now() - address_started_;
  return attempt;
}

void Dial::record(DialOutcome outcome) {
  if (attempts_ != nullptr) attempts_->push_back(attempt(outcome));
}

const net::SocketAddress& Dial::target() const {
  return addresses_ ? with_port_ : selection_.lease->address();
}

}  // namespace weir::upstream
