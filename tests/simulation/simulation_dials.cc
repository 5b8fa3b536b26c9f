// From a slot to a backend, as the connector goes that way.
#include <algorithm>

#include "tests/simulation/simulation.h"

namespace weir::simulation {

using namespace std::chrono_literals;
using core::CloseReason;
using core::DialOutcome;
using core::Left;
using core::Verdict;
using Kind = Event::Kind;

void Simulation::begin_dialling(Client& client) {
  client.stage = Client::Stage::choosing;
  client.plan.emplace(retry(), connect(), now_);
  client.plan_began = now_;
  client.edition = edition_;
  choose(client);
}

Simulation::View Simulation::look(const Client& client) const {
  View view;
  const upstream::Pool& pool = *client.edition->pool;
  const auto tiers = pool.tiers();
  for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
    for (std::size_t i = 0; i < tiers[tier].backends.size(); ++i) {
      const std::size_t place = tiers[tier].backends[i];
      if (!offers(client, place)) continue;
      if (!circuits_[place].admits()) {
        view.refusals.circuit = true;
      } else if (!has_room(place)) {
        view.refusals.capacity = true;
      } else if (client.banned.contains(place)) {
        if (view.left == Left::none) view.left = Left::only_excluded;
      } else {
        view.left = Left::some;
        if (!view.tier) view.tier = tier;
        if (view.tier != tier) continue;
        view.candidates.push_back({i, pool.weight(place), active_[place]});
      }
    }
  }
  return view;
}

// The selector looked at the candidates, down to the tier of the one it chose.
void Simulation::looked(const Client& client, std::optional<std::size_t> chosen) {
  const std::vector<std::size_t>& tier_of = client.edition->tier_of;
  for (std::size_t place = 0; place < circuits_.size(); ++place) {
    if (place != chosen) circuits_[place].passed_over();
    const bool reached = !chosen || tier_of[place] <= tier_of[*chosen];
    if (reached && offers(client, place)) circuits_[place].asked();
  }
}

void Simulation::choose(Client& client) {
  client.stage = Client::Stage::choosing;
  if (client.plan->too_late(now_)) {  // when it began to wait there was somebody to dial
    check_giving_up(client, CloseReason::retry_deadline_exhausted, Left::some);
    return end(client, CloseReason::retry_deadline_exhausted);
  }
  const View view = look(client);
  for (WatchedCircuit& circuit : circuits_) circuit.before_look();
  auto selection = selector_.select(*client.edition->pool, *client.plan, client.source, now_);
  if (!selection) {
    looked(client, std::nullopt);
    return none_left(client, view);
  }
  const std::size_t place = selection->place;
  client.leave = circuits_[place].chosen(selection->permit, client.mute);
  looked(client, place);
  check(view.tier == client.edition->tier_of[place],
        "chooses from another tier than the first with a candidate");
  if (!broken()) check_choice(client, view, place);
  dial(client, std::move(*selection));
}

void Simulation::none_left(Client& client, const View& view) {
  check(!view.tier, "there were candidates and none was chosen");
  check(selector_.left() == view.left, "finds others left than the books");
  const core::Refusals refusals = selector_.refusals();
  check(refusals.circuit == view.refusals.circuit && refusals.capacity == view.refusals.capacity,
        "other gates refused than in the books");
  if (client.plan->dials() == 0) return end(client, core::most_telling(refusals));
  if (view.left == Left::only_excluded)
    return follow(client, client.plan->exhausted(now_), view.left);
  const CloseReason reason = client.plan->last_reason();
  check_giving_up(client, reason, view.left);
  end(client, reason);
}

void Simulation::dial(Client& client, upstream::Selection selection) {
  const std::size_t place = selection.place;
  client.dial_until = client.plan->dial_deadline(now_);
  client.cut_short = client.dial_until < now_ + connect();
  if (!broken()) check_dial(client, place);
  client.selection = std::move(selection);
  ++active_[place];
  if (broken()) return;

  client.plan->started(place);
  client.stage = Client::Stage::dialling;
  client.banned.insert(place);
  client.failed.insert(place);
  ++client.dials;
  ++seen_.dials;

  client.answer = answers_[place];
  client.coming = client.answer.dial;
  core::TimePoint ends = now_ + up_to(rng_, client.answer.within);
  if (client.coming.outcome == DialOutcome::timeout || ends >= client.dial_until) {
    client.coming = {DialOutcome::timeout};
    ends = client.dial_until;
  }
  timeline_.add(ends, Kind::dial_ends, client.id, ++client.turn);
  trace("#{} dials {}{}", client.id, place, client.probes() ? ", a probe" : "");
}

void Simulation::dial_ends(Client& client) {
  const core::DialResult result = client.coming;
  trace("#{} {}", client.id, name(result.outcome));
  if (result.outcome == DialOutcome::connected) return connected(client);
  // One that had less time than `connect`, because its client had no more, decides nothing.
  const bool hurried = client.cut_short && now_ >= client.dial_until;
  give_verdict(client, hurried ? Verdict::neutral : core::verdict(result.outcome));
  leave_backend(client);
  client.stage = Client::Stage::choosing;
  client.last = result.outcome;
  client.failed_at = now_;

  // The connector looks before it waits; a plan that is not told must fare as well.
  const Left left = look(client).left;
  const bool looks = rng_.below(4) != 0;
  if (looks) {
    for (WatchedCircuit& circuit : circuits_) circuit.before_look();
    check(selector_.look(*client.edition->pool, *client.plan, now_) == left,
          "sees others left than the books");
    for (WatchedCircuit& circuit : circuits_) circuit.passed_over();
  }
  const core::DialStep next = looks ? client.plan->after(result, now_, core_rng_, left)
                                    : client.plan->after(result, now_, core_rng_);
  if (next.give_up && !retryable(result)) {
    check(*next.give_up == close_reason(result.outcome), "a final failure ended as another");
    return end(client, *next.give_up);
  }
  follow(client, next, looks ? left : Left::some);
}

void Simulation::connected(Client& client) {
  client.stage = Client::Stage::relaying;
  // Some connections last for hours, and a mute one's permit with it.
  const bool lasts = client.mute ? rng_.below(2) == 0 : rng_.below(16) == 0;
  const core::TimePoint ends = now_ + up_to(rng_, lasts ? 3h : 5s);
  timeline_.add(ends, Kind::relay_ends, client.id, ++client.turn);
  if (!scenario_.by_first_byte) return give_verdict(client, Verdict::success);
  if (!client.mute) {
    timeline_.add(now_ + up_to(rng_, kPrompt), Kind::first_byte, client.id, client.turn);
  }
}

void Simulation::first_byte(Client& client) {
  const DialOutcome outcome = client.answer.first_byte;
  trace("#{} first byte: {}", client.id, name(outcome));
  give_verdict(client, core::verdict(outcome));
  if (outcome != DialOutcome::connected) end(client, close_reason(outcome));
}

void Simulation::follow(Client& client, const core::DialStep& next, Left left) {
  if (next.give_up) {
    check_giving_up(client, *next.give_up, left);
    return end(client, *next.give_up);
  }
  check(left != Left::none, "waits although nobody is left");
  check(next.at <= overall(client), "waits past the overall deadline");
  if (left == Left::only_excluded) {
    check(retry().attempts > 0, "exclusions lifted although every backend has one chance");
    check(next.at >= client.failed_at + 100ms, "dials a backend again within 100 ms");
    client.banned.clear();
  }
  timeline_.add(std::max(next.at, now_), Kind::choose, client.id, ++client.turn);
}

void Simulation::give_verdict(Client& client, Verdict verdict) {
  circuits_[client.selection->place].end(std::move(client.selection->permit), client.leave,
                                         verdict);
}

// With the permit still out if nothing was decided.
void Simulation::leave_backend(Client& client) {
  if (client.selection->permit) give_verdict(client, Verdict::neutral);
  --active_[client.selection->place];
  client.selection.reset();
}

}  // namespace weir::simulation
