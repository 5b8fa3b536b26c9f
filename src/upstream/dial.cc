#include "weir/upstream/dial.h"

#include <sys/socket.h>

#include <algorithm>

#include "weir/net/loop.h"
#include "weir/net/timer.h"
#include "weir/upstream/backend.h"

namespace weir::upstream {

using core::DialOutcome;
using core::DialResult;
using net::ConnectState;

namespace {

// How soon a unix backend whose accept queue is full is asked again, as Connector does.
core::Backoff queue_full_pause() {
  return {std::chrono::milliseconds(5), std::chrono::milliseconds(100)};
}

}  // namespace

Dial::Dial(const Context& context, const Backend& backend, const net::SocketAddress& source,
           core::TimePoint deadline, net::Timer& timer, Owner& owner)
    : context_(context),
      backend_(backend),
      source_(source),
      deadline_(deadline),
      timer_(timer),
      owner_(owner),
      queue_full_pause_(queue_full_pause()) {}

Dial::~Dial() {
  if (phase_ != Phase::idle) timer_.cancel();
  if (socket_) socket_.abort();
}

void Dial::start() {
  const core::Endpoint& endpoint = backend_.options().address;
  if (endpoint.kind != core::Endpoint::Kind::name) return dial_address();
  if (const net::Addresses known = context_.resolver.cached(endpoint.host, context_.loop.now())) {
    return resolved(known);
  }
  lookup_ = context_.resolver.lookup(endpoint.host, context_.loop,
                                     [this](const net::Addresses& answer) { resolved(answer); });
  wait_until(deadline_, Phase::resolving);
}

void Dial::resolved(const net::Addresses& addresses) {
  lookup_.reset();
  if (!addresses) return end({DialOutcome::resolve_failed, false});
  addresses_ = addresses;
  dial_address();
}

void Dial::dial_address() {
  const core::TimePoint now = context_.loop.now();
  queue_full_pause_ = queue_full_pause();
  // Each address gets an even share of what is left, so that one that hangs leaves time for the
  // others within the same bound.
  const auto shares = static_cast<std::int64_t>(addresses() - address_);
  address_deadline_ = now + (deadline_ - now) / shares;
  target_ = addresses_ ? (*addresses_)[address_].with_port(backend_.options().address.port)
                       : backend_.address();
  connect_once();
}

void Dial::connect_once() {
  net::ConnectOptions options;
  options.reset_follows = true;
  if (target_.family() != AF_UNIX) options.source = source_;
  handle(net::begin_connect(target_, options, socket_));
}

void Dial::handle(const ConnectState& state) {
  switch (state.kind) {
    case ConnectState::Kind::connected:
      return end({DialOutcome::connected, false});
    case ConnectState::Kind::failed:
      return address_failed(state.failure);
    case ConnectState::Kind::full:
      return wait_until(
          std::min(context_.loop.now() + queue_full_pause_.next(context_.rng), address_deadline_),
          Phase::queue_full);
    case ConnectState::Kind::pending:
      if (phase_ != Phase::connecting && !socket_.watch(context_.loop.sockets(), *this)) {
        return address_failed({DialOutcome::local_error, false});
      }
      return wait_until(address_deadline_, Phase::connecting);
  }
}

void Dial::on_ready() {
  if (phase_ == Phase::connecting) handle(net::continue_connect(socket_, target_));
}

void Dial::on_timer() {
  switch (phase_) {
    case Phase::idle:
      return;
    case Phase::resolving:
      return end({DialOutcome::resolve_failed, false});
    case Phase::queue_full:
      if (context_.loop.now() < address_deadline_) return connect_once();
      return address_failed({DialOutcome::timeout, false});
    case Phase::connecting:
      return address_failed({DialOutcome::timeout, false});
  }
}

void Dial::address_failed(DialResult result) {
  told_ = core::more_telling(told_, result);
  if (socket_) socket_.abort();
  phase_ = Phase::idle;
  const bool ours = result.outcome == DialOutcome::local_error && !result.no_local_port;
  if (!ours && address_ + 1 < addresses() && context_.loop.now() < deadline_) {
    ++address_;
    return dial_address();
  }
  end(told_);
}

void Dial::end(DialResult result) {
  phase_ = Phase::idle;
  lookup_.reset();
  timer_.cancel();
  if (socket_) socket_.abort();
  owner_.on_dialled(result);
}

void Dial::wait_until(core::TimePoint at, Phase phase) {
  phase_ = phase;
  timer_.arm(at);
}

}  // namespace weir::upstream
