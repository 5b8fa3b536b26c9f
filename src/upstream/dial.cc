#include "weir/upstream/dial.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "weir/net/loop.h"
#include "weir/net/timer.h"
#include "weir/upstream/backend.h"

namespace weir::upstream {

using core::DialOutcome;
using core::DialResult;
using net::ConnectState;

namespace {

// How soon a unix backend whose accept queue is full is asked again, as the kernel does not say
// when there is room: soon at first, then less and less often, each client at its own time.
core::Backoff queue_full_pause() {
  return {std::chrono::milliseconds(5), std::chrono::milliseconds(100)};
}

}  // namespace

Dial::Dial(const Context& context, const Backend& backend, const net::SocketAddress& source,
           const Terms& terms, net::Timer& timer, Owner& owner)
    : context_(context),
      backend_(backend),
      source_(source),
      terms_(terms),
      timer_(&timer),
      owner_(owner),
      address_started_(context.loop.now()),
      queue_full_pause_(queue_full_pause()) {}

Dial::~Dial() {
  if (phase_ != Phase::idle) timer_->cancel();
  if (socket_) socket_.abort();
}

void Dial::start() {
  const core::Endpoint& endpoint = backend_.endpoint();
  if (endpoint.kind != core::Endpoint::Kind::name) return dial_address();
  if (const net::Addresses known = context_.resolver.cached(endpoint.host, context_.loop.now())) {
    return on_resolved(known);
  }
  lookup_ = context_.resolver.lookup(endpoint.host, context_.loop,
                                     [this](const net::Addresses& answer) { on_resolved(answer); });
  wait_until(terms_.deadline, Phase::resolving);
}

void Dial::on_resolved(const net::Addresses& addresses) {
  if (!addresses) return not_resolved();
  lookup_.reset();
  addresses_ = addresses;
  dial_address();
}

void Dial::not_resolved() {
  owner_.on_address_tried(DialOutcome::resolve_failed);
  end({DialOutcome::resolve_failed, false});
}

void Dial::dial_address() {
  const core::TimePoint now = context_.loop.now();
  address_started_ = now;
  queue_full_pause_ = queue_full_pause();
  // Each address gets an even share of what is left, so that one that hangs leaves time for the
  // others within the same bound.
  const auto shares = static_cast<std::int64_t>(addresses() - address_);
  address_deadline_ = now + (terms_.deadline - now) / shares;
  target_ =
      addresses_ ? (*addresses_)[address_].with_port(backend_.endpoint().port) : backend_.address();
  connect_once();
}

void Dial::connect_once() {
  net::ConnectOptions options;
  options.data_follows = terms_.data_follows;
  options.reset_follows = terms_.for_nobody;
  if (target_.family() != AF_UNIX) options.source = source_;
  handle(net::begin_connect(target_, options, socket_));
}

void Dial::handle(const ConnectState& state) {
  if (state.kind == ConnectState::Kind::failed) return address_failed(state.failure);
  if (state.kind == ConnectState::Kind::full) {
    if (context_.loop.now() >= address_deadline_) return out_of_time();
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
  if (terms_.for_nobody) socket_.abort();
  owner_.on_address_tried(DialOutcome::connected);
  end({DialOutcome::connected, false});
}

void Dial::on_ready() {
  if (phase_ == Phase::connecting) handle(net::continue_connect(socket_, target_));
}

void Dial::on_timer() {
  switch (phase_) {
    case Phase::idle:
      return;
    case Phase::resolving: {
      const net::Addresses known =
          context_.resolver.cached(backend_.endpoint().host, context_.loop.now());
      return known ? on_resolved(known) : out_of_time();
    }
    case Phase::queue_full:
      return connect_once();
    case Phase::connecting: {
      const ConnectState state = net::ask_connect(socket_, target_);
      return state.kind == ConnectState::Kind::pending ? out_of_time() : handle(state);
    }
  }
}

// What has happened until now was looked for, and not only what this thread was told of: one that
// was kept from its work must not condemn backends which did theirs in time.
void Dial::out_of_time() {
  if (context_.loop.now() >= terms_.deadline && owner_.takes_on()) return;
  if (phase_ == Phase::resolving) return not_resolved();
  address_failed({DialOutcome::timeout, false});
}

void Dial::address_failed(DialResult result) {
  owner_.on_address_tried(result.outcome);
  told_ = core::more_telling(told_, result);
  if (socket_) socket_.abort();
  phase_ = Phase::idle;
  const bool ours = result.outcome == DialOutcome::local_error && !result.no_local_port;
  if (!ours && address_ + 1 < addresses() && context_.loop.now() < terms_.deadline) {
    ++address_;
    return dial_address();
  }
  end(told_);
}

void Dial::end(DialResult result) {
  phase_ = Phase::idle;
  lookup_.reset();
  timer_->cancel();
  owner_.on_dialled(result, std::move(socket_));
}

void Dial::go_on_for_nobody(net::Timer& timer, core::TimePoint deadline) {
  terms_.for_nobody = true;
  terms_.data_follows = false;
  terms_.deadline = deadline;
  if (address_ + 1 == addresses()) address_deadline_ = deadline;
  if (phase_ == Phase::connecting && socket_.is_tcp()) socket_.hold_acknowledgements(true);
  if (phase_ == Phase::resolving) wake_at_ = deadline;
  if (phase_ == Phase::connecting) wake_at_ = address_deadline_;
  timer_->cancel();
  timer_ = &timer;
  timer_->arm(wake_at_);
}

void Dial::wait_until(core::TimePoint at, Phase phase) {
  phase_ = phase;
  wake_at_ = at;
  timer_->arm(at);
}

}  // namespace weir::upstream
