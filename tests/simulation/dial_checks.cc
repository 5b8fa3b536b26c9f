// The laws about one client's dials, from the contract alone: nothing here asks the core.
#include <algorithm>

#include "tests/simulation/simulation.h"

namespace weir::simulation {

using namespace std::chrono_literals;
using core::Balance;
using core::Candidate;
using core::CloseReason;
using core::DialOutcome;
using core::Left;

core::TimePoint Simulation::overall(const Client& client) const {
  if (!retry().enabled || retry().deadline == 0s) return core::kNever;
  return client.plan_began + retry().deadline;
}

std::size_t Simulation::most_dials(const Client& client) const {
  if (!retry().enabled) return 1;
  if (retry().attempts > 0) return 1 + static_cast<std::size_t>(retry().attempts);
  const auto& backends = client.edition->pool->options().backends;
  return static_cast<std::size_t>(
      std::count_if(backends.begin(), backends.end(), [](const auto& b) { return b.weight > 0; }));
}

void Simulation::check_choice(const Client& client, const View& view, std::size_t place) {
  const std::vector<std::size_t>& members = client.edition->pool->tiers()[*view.tier].backends;
  const auto chosen = std::find_if(view.candidates.begin(), view.candidates.end(),
                                   [&](const Candidate& c) { return members[c.index] == place; });
  check(chosen != view.candidates.end(), "chose one that is no candidate");
  if (broken()) return;
  const Balance policy = client.edition->pool->options().balance;
  if (policy == Balance::first) {
    check(chosen == view.candidates.begin(), "first is not the first");
  }
  if (policy == Balance::least_connections) {
    for (const Candidate& other : view.candidates) {
      check(std::uint64_t{chosen->active} * other.weight <=
                std::uint64_t{other.active} * chosen->weight,
            "another backend has fewer connections for its weight");
    }
  }
  if (policy == Balance::source_hash && client.edition == edition_) {
    std::vector<std::size_t> among = {*view.tier};
    for (const Candidate& candidate : view.candidates) among.push_back(candidate.index);
    const auto [known, fresh] = hashed_.try_emplace({client.source, among}, place);
    check(known->second == place, "a source changed its backend among the same candidates");
  }
}

void Simulation::check_dial(const Client& client, std::size_t place) {
  const core::TimePoint until = client.dial_until;
  const std::vector<std::size_t>& tier_of = client.edition->tier_of;
  check(offers(client, place), "dials a backend of weight 0, or one that was replaced");
  check(has_room(place), "dials a backend that is full");
  check(!client.banned.contains(place), "dials an excluded backend");
  check(!client.failed.contains(place) || now_ >= client.failed_at + 100ms,
        "dials a backend again within 100 ms");
  check(client.dials < most_dials(client), "one dial too many");
  check(until <= now_ + connect(), "a dial outlasts its own bound");
  check(until <= overall(client), "a dial outlasts the overall deadline");
  check(until == now_ + connect() || until == overall(client), "a dial is cut short for nothing");
  check(now_ < overall(client), "dials past the overall deadline");
  for (std::size_t other = 0; other < circuits_.size(); ++other) {
    if (tier_of[other] >= tier_of[place] || !offers(client, other) || !has_room(other)) continue;
    check(client.banned.contains(other) || !circuits_[other].admits(),
          "uses a lower tier while an upper one has a backend");
  }
}

// `left` is what the plan was told.
void Simulation::check_giving_up(const Client& client, CloseReason reason, Left left) {
  check(client.last.has_value(), "gives up on dials that were never made");
  if (broken()) return;
  const bool spent =
      client.dials >= most_dials(client) && (retry().attempts > 0 || !retry().enabled);
  const bool nobody = left == Left::none || (left == Left::only_excluded && retry().attempts == 0);
  if (reason == CloseReason::retry_deadline_exhausted) {
    check(overall(client) != core::kNever, "there is no overall deadline to exhaust");
    const bool cut_short = client.last == DialOutcome::timeout && now_ + 1ms > overall(client);
    check(cut_short || (!spent && !nobody), "blames the deadline for what it did not prevent");
    const core::Duration longest_wait = std::max<core::Duration>(retry().backoff_max, 150ms);
    check(now_ + longest_wait + 1ms > overall(client), "gives up long before the deadline");
    return;
  }
  check(reason == close_reason(*client.last), "ends with another reason than its last dial's");
  check(spent || nobody, "gives up although it could dial on");
}

}  // namespace weir::simulation
