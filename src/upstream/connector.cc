#include "weir/upstream/connector.h"

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

// Dials that fail at once (no route, no such path) follow each other in one turn up to here.
constexpr int kDialsInOneTurn = 16;

}  // namespace

Connector::Connector(const DialContext& context, Pool& pool, std::uint64_t source_hash,
                     bool data_follows, net::Timer& timer, Owner& owner)
    : context_(context),
      pool_(pool),
      source_hash_(source_hash),
      data_follows_(data_follows),
      timer_(timer),
      owner_(owner),
      plan_(pool.options().resilience.retry, pool.options().timeouts.connect, context.loop.now()) {}

Connector::~Connector() {
  if (!selection_.lease) return;
  count(DialOutcome::cancelled);
  if (socket_) socket_.abort();
}

void Connector::start() { choose(); }

void Connector::choose() {
  phase_ = Phase::idle;
  const core::TimePoint now = context_.loop.now();
  if (!budget_allows(now)) return owner_.on_dial_failed(core::CloseReason::retry_budget_exhausted);
  auto selection = context_.selector.select(pool_, plan_, source_hash_, now);
  if (selection) {
    begin_dial(std::move(*selection));
  } else {
    none_left();
  }
}

// Asked when the dial would follow at once, so that what is granted is what is dialled: after the
// wait, and only if there is somebody to dial. It comes before the choice, which might take the one
// probe of a backend for a dial that is then not made. (A claim lost to another thread right after
// this is charged all the same.)
bool Connector::budget_allows(core::TimePoint now) {
  core::RetryBudget& budget = pool_.retry_budget();
  if (plan_.dials() == 0 || !budget.limited()) return true;
  if (context_.selector.look(pool_, plan_, now) != core::Left::some) return true;
  if (budget.try_retry(now)) return true;
  pool_.totals(context_.worker).retries_denied.add();
  return false;
}

void Connector::none_left() {
  if (plan_.dials() == 0) {
    owner_.on_dial_failed(core::most_telling(context_.selector.refusals()));
  } else if (context_.selector.left() == core::Left::only_excluded) {
    follow(plan_.exhausted(context_.loop.now()));
  } else {
    owner_.on_dial_failed(plan_.last_reason());
  }
}

void Connector::begin_dial(Selection selection) {
  selection_ = std::move(selection);
  dialing_ = selection_.lease->count_dial();
  plan_.started(selection_.place);
  const core::TimePoint now = context_.loop.now();
  if (plan_.dials() == 1) pool_.retry_budget().primary(now);
  dial_deadline_ = plan_.dial_deadline(now);
  cut_short_ = dial_deadline_ < now + pool_.options().timeouts.connect;
  addresses_ = nullptr;
  address_ = 0;
  told_ = {};
  address_started_ = now;
  const core::Endpoint& endpoint = selection_.lease->options().address;
  if (endpoint.kind != core::Endpoint::Kind::name) return dial_address();
  if (const net::Addresses known = context_.resolver.cached(endpoint.host, now)) {
    return resolved(known);
  }
  lookup_ = context_.resolver.lookup(endpoint.host, context_.loop,
                                     [this](const net::Addresses& answer) { resolved(answer); });
  wait_until(dial_deadline_, Phase::resolving);
}

void Connector::resolved(const net::Addresses& addresses) {
  lookup_.reset();
  if (!addresses) {
    record(DialOutcome::resolve_failed);
    return dial_failed({DialOutcome::resolve_failed, false});
  }
  addresses_ = addresses;
  dial_address();
}

void Connector::dial_address() {
  const core::TimePoint now = context_.loop.now();
  address_started_ = now;
  queue_full_pause_ = core::Backoff(kQueueFullFirst, kQueueFullMost);
  // Each address gets an even share of what is left, so that one that hangs leaves time for the
  // others within the same bound.
  const auto shares = static_cast<std::int64_t>(addresses() - address_);
  address_deadline_ = now + (dial_deadline_ - now) / shares;
  if (addresses_) {
    with_port_ = (*addresses_)[address_].with_port(selection_.lease->options().address.port);
  }
  connect_once();
}

void Connector::connect_once() {
  net::ConnectOptions options;
  options.data_follows = data_follows_;
  if (target().family() != AF_UNIX) options.source = pool_.source();
  handle(net::begin_connect(target(), options, socket_));
}

void Connector::handle(const ConnectState& state) {
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
  record(DialOutcome::connected);
  count(DialOutcome::connected);
  selection_.permit.succeed(context_.loop.now());
  dialing_ = {};
  phase_ = Phase::idle;
  timer_.cancel();
  owner_.on_connected({std::move(socket_), std::move(selection_.lease)});
}

void Connector::on_ready() {
  if (phase_ != Phase::connecting) return;
  handle(net::continue_connect(socket_, target()));
}

void Connector::on_timer() {
  const core::TimePoint now = context_.loop.now();
  switch (phase_) {
    case Phase::idle:
      return;
    case Phase::waiting:
      dials_this_turn_ = 0;
      return choose();
    case Phase::resolving:
      lookup_.reset();
      record(DialOutcome::resolve_failed);
      return dial_failed({DialOutcome::resolve_failed, false});
    case Phase::queue_full:
      if (now < address_deadline_) return connect_once();
      return address_failed({DialOutcome::timeout, false});
    case Phase::connecting:
      return address_failed({DialOutcome::timeout, false});
  }
}

void Connector::address_failed(DialResult result) {
  record(result.outcome);
  told_ = core::more_telling(told_, result);
  if (socket_) socket_.abort();
  phase_ = Phase::idle;
  const bool ours = result.outcome == DialOutcome::local_error && !result.no_local_port;
  if (!ours && address_ + 1 < addresses() && context_.loop.now() < dial_deadline_) {
    ++address_;
    return dial_address();
  }
  dial_failed(told_);
}

void Connector::dial_failed(DialResult result) {
  count(result.outcome);
  const core::TimePoint now = context_.loop.now();
  // A backend that had less than `connect` to answer in, because the client's own time ran out, has
  // not failed.
  const bool hurried = cut_short_ && context_.loop.now() >= dial_deadline_;
  if (!hurried && core::verdict(result.outcome) == core::Verdict::failure)
    selection_.permit.fail(now);
  selection_ = {};
  dialing_ = {};
  addresses_ = nullptr;
  follow(plan_.after(result, now, context_.rng, context_.selector.look(pool_, plan_, now)));
}

void Connector::follow(const core::DialStep& step) {
  if (step.give_up) {
    phase_ = Phase::idle;
    timer_.cancel();
    return owner_.on_dial_failed(*step.give_up);
  }
  if (step.at <= context_.loop.now() && ++dials_this_turn_ < kDialsInOneTurn) return choose();
  wait_until(step.at, Phase::waiting);
}

void Connector::wait_until(core::TimePoint at, Phase phase) {
  phase_ = phase;
  timer_.arm(at);
}

void Connector::record(DialOutcome outcome) {
  Attempt attempt;
  attempt.backend = &*selection_.lease;
  if (addresses_) attempt.resolved = std::make_unique<std::string>(with_port_.text());
  attempt.outcome = outcome;
  attempt.took = context_.loop.now() - address_started_;
  attempts_.push_back(std::move(attempt));
}

void Connector::count(DialOutcome outcome) {
  const auto place = static_cast<std::size_t>(outcome);
  selection_.lease->dials(context_.worker)[place].add();
  if (plan_.dials() > 1) pool_.totals(context_.worker).retries[place].add();
}

std::vector<Attempt> Connector::take_attempts() {
  if (selection_.lease) record(DialOutcome::cancelled);
  return std::move(attempts_);
}

const net::SocketAddress& Connector::target() const {
  return addresses_ ? with_port_ : selection_.lease->address();
}

}  // namespace weir::upstream
