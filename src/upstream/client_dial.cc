#include "weir/upstream/client_dial.h"

#include <utility>

#include "weir/net/loop.h"
#include "weir/upstream/pool.h"

namespace weir::upstream {

using core::DialOutcome;
using core::DialResult;

ClientDial::ClientDial(const DialContext& context, Pool& pool, Selection selection,
                       const Terms& terms, net::Timer& timer, std::vector<Attempt>& attempts,
                       Owner& owner)
    : context_(context),
      pool_(pool),
      selection_(std::move(selection)),
      terms_(terms),
      counters_(selection_.lease->counters(
          context.worker, terms.retry ? &pool.totals(context.worker).retries : nullptr)),
      started_(context.loop.now()),
      attempts_(&attempts),
      owner_(&owner),
      dialing_(selection_.lease->count_dial()),
      dial_(context, *selection_.lease, pool.source(),
            {.deadline = terms.deadline, .data_follows = terms.data_follows, .for_nobody = false},
            timer, *this) {}

ClientDial::~ClientDial() {
  if (selection_.lease) counters_.add(DialOutcome::cancelled);
}

void ClientDial::on_address_tried(DialOutcome outcome) {
  if (attempts_ != nullptr) attempts_->push_back(attempt(outcome));
}

void ClientDial::on_dialled(DialResult result, net::Socket socket) {
  if (result.outcome == DialOutcome::connected) return connected(std::move(socket));
  failed(result);
}

void ClientDial::connected(net::Socket socket) {
  pool_.totals(context_.worker).dials.add(context_.loop.now() - started_);
  Connection connection{std::move(socket), {}, {}};
  // A circuit that takes no verdict bounds no wait for one either.
  const bool asks = selection_.permit.epoch() != 0;
  if (asks && pool_.options().resilience.circuit_success == CircuitSuccess::first_byte) {
    connection.verdict = PendingVerdict(std::move(selection_.permit), counters_);
  } else {
    counters_.add(DialOutcome::connected);
    selection_.permit.succeed(context_.loop.now());
  }
  connection.lease = std::move(selection_.lease);
  dialing_ = {};
  owner_->on_dial_connected(std::move(connection));
}

void ClientDial::failed(DialResult result) {
  counters_.add(result.outcome);
  const core::TimePoint now = context_.loop.now();
  pool_.totals(context_.worker).dials.add(now - started_);
  // A backend that had less than `connect` to answer in, because the client's own time ran out, has
  // not failed.
  const bool hurried = terms_.hurried && now >= terms_.deadline;
  if (!hurried && core::verdict(result.outcome) == core::Verdict::failure) {
    selection_.permit.fail(now);
  }
  dialing_ = {};  // first: nobody dials without a place
  selection_ = {};
  owner_->on_dial_ended(result);
}

bool ClientDial::takes_on() {
  if (!terms_.hurried || attempts_ == nullptr) return false;
  std::vector<Attempt>& attempts = *attempts_;
  if (!go_alone()) return false;
  attempts.push_back(attempt(DialOutcome::timeout));
  owner_->on_out_of_time();
  return true;
}

bool ClientDial::go_alone() {
  if (!selection_.permit.would_count() || !selection_.lease.go_alone()) return false;
  attempts_ = nullptr;
  return true;
}

void ClientDial::hand_over(net::Timer& timer, Owner& owner) {
  owner_ = &owner;
  if (terms_.hurried) {
    terms_.hurried = false;
    terms_.deadline = started_ + pool_.options().timeouts.connect;
  }
  dial_.go_on_for_nobody(timer, terms_.deadline);
}

Attempt ClientDial::attempt(DialOutcome outcome) const {
  Attempt attempt;
  attempt.backend = &*selection_.lease;
  if (const net::SocketAddress* address = dial_.resolved()) {
    attempt.resolved = std::make_unique<std::string>(address->text());
  }
  attempt.outcome = outcome;
  attempt.took = context_.loop.now() - dial_.address_started();
  return attempt;
}

}  // namespace weir::upstream
