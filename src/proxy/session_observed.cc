// What observers see of a session. Not for the data path.

#include <utility>

#include "weir/net/loop.h"
#include "weir/proxy/session.h"
#include "weir/upstream/pool.h"

namespace weir::proxy {
namespace {

SessionView::Attempt shown(const upstream::Attempt& attempt) {
  return {attempt.backend->name(), attempt.address(), attempt.outcome, attempt.took};
}

}  // namespace

const upstream::Backend* Session::backend() const {
  if (lease_) return &*lease_;
  return connector_ ? connector_->backend() : nullptr;
}

bool Session::matches(const SessionFilter& filter) const {
  if (!filter.listener.empty() && filter.listener != listener_->name()) return false;
  if (!filter.pool.empty() && filter.pool != pool_->options().name) return false;
  if (filter.backend.empty()) return true;
  const upstream::Backend* const there = backend();
  return there != nullptr && there->name() == filter.backend;
}

SessionView Session::view() const {
  SessionView view;
  view.id = id_;
  view.listener = listener_->name();
  view.client = peer_.text();
  view.pool = pool_->options().name;
  if (lease_) view.backend = lease_->name();
  switch (phase_) {
    case Phase::accepted:
      view.state = SessionState::accepted;
      break;
    case Phase::queued:
      view.state = SessionState::queued;
      break;
    case Phase::dialling:
      view.state = SessionState::dialling;
      break;
    case Phase::relaying:
      view.state = SessionState::relaying;
      break;
    case Phase::parting:
    case Phase::done:
      view.state = SessionState::parting;
      break;
  }
  view.age = context_.loop.now() - accepted_;
  if (relay_) {
    view.bytes_in = relay_->bytes_in();
    view.bytes_out = relay_->bytes_out();
  }
  for (const upstream::Attempt& attempt : connector_ ? connector_->attempts() : attempts_) {
    view.attempts.push_back(shown(attempt));
  }
  return view;
}

}  // namespace weir::proxy
