#include "weir/upstream/connector.h"

#include <utility>

#include "weir/net/loop.h"
#include "weir/net/timer.h"
#include "weir/upstream/pool.h"

namespace weir::upstream {
namespace {

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

Connector::~Connector() = default;

void Connector::start() { choose(); }

void Connector::choose() {
  const core::TimePoint now = context_.loop.now();
  if (plan_.too_late(now)) {
    return owner_.on_dial_failed(core::CloseReason::retry_deadline_exhausted);
  }
  if (plan_.dials() > 0 && pool_.retry_budget().limited()) {
    if (context_.selector.look(pool_, plan_, now) != core::Left::some) return none_left();
    if (!budget_allows(now)) {
      return owner_.on_dial_failed(core::CloseReason::retry_budget_exhausted);
    }
  }
  auto selection = context_.selector.select(pool_, plan_, source_hash_, now);
  if (selection) {
    dial(std::move(*selection));
  } else {
    none_left();
  }
}

// Asked when the dial would follow at once, so that what is granted is what is dialled: after the
// wait, and only if there is somebody to dial. It comes before the choice, which might take the one
// probe of a backend for a dial that is then not made. (A claim lost to another thread right after
// this is charged all the same.)
bool Connector::budget_allows(core::TimePoint now) {
  if (pool_.retry_budget().try_retry(now)) return true;
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

void Connector::dial(Selection selection) {
  plan_.started(selection.place);
  const core::TimePoint now = context_.loop.now();
  if (plan_.dials() == 1) pool_.retry_budget().primary(now);
  ClientDial::Terms terms;
  terms.deadline = plan_.dial_deadline(now);
  terms.hurried = terms.deadline < now + pool_.options().timeouts.connect;
  terms.data_follows = data_follows_;
  terms.retry = plan_.dials() > 1;
  ClientDial::Owner& self = *this;
  dial_ = std::make_unique<ClientDial>(context_, pool_, std::move(selection), terms, timer_,
                                       attempts_, self);
  dial_->start();
}

void Connector::on_dial_connected(Connection connection) {
  dial_.reset();
  owner_.on_connected(std::move(connection));
}

void Connector::on_dial_ended(core::DialResult result) {
  dial_.reset();
  const core::TimePoint now = context_.loop.now();
  follow(plan_.after(result, now, context_.rng, context_.selector.look(pool_, plan_, now)));
}

void Connector::on_timer() {
  if (dial_) return dial_->on_timer();
  dials_this_turn_ = 0;
  choose();
}

void Connector::follow(const core::DialStep& step) {
  if (step.give_up) return owner_.on_dial_failed(*step.give_up);
  if (step.at <= context_.loop.now() && ++dials_this_turn_ < kDialsInOneTurn) return choose();
  timer_.arm(step.at);
}

std::vector<Attempt> Connector::take_attempts() {
  if (dial_) attempts_.push_back(dial_->attempt(core::DialOutcome::cancelled));
  return std::move(attempts_);
}

void Connector::on_out_of_time() {
  lone_ = std::move(dial_);
  owner_.on_dial_failed(core::CloseReason::retry_deadline_exhausted);
}

std::unique_ptr<ClientDial> Connector::take_lone_dial() {
  if (lone_) return std::move(lone_);
  return dial_ && dial_->go_alone() ? std::move(dial_) : nullptr;
}

}  // namespace weir::upstream
