// The invariants of the simulation, from the rules alone: nothing here asks the core.
#include <fmt/format.h>

#include <algorithm>

#include "tests/core/simulation.h"

namespace weir::core {

using namespace std::chrono_literals;

void Simulation::check(bool holds, std::string_view what) {
  if (holds || violation_) return;
  violation_ = fmt::format("seed {} ({}): {}", seed_, name(policy_), what);
}

TimePoint Simulation::overall(const Session& session) const {
  if (!options_.enabled || options_.deadline == 0s) return kNever;
  return session.arrived + options_.deadline;
}

std::size_t Simulation::most_dials() const {
  if (!options_.enabled) return 1;
  if (options_.attempts > 0) return 1 + static_cast<std::size_t>(options_.attempts);
  return static_cast<std::size_t>(std::count_if(
      backends_.begin(), backends_.end(), [](const ModelBackend& b) { return b.weight > 0; }));
}

void Simulation::check_choice(const Session& session, const View& view, std::size_t place) {
  const auto chosen = std::find_if(view.candidates.begin(), view.candidates.end(),
                                   [&](const Candidate& c) { return c.index == place; });
  check(chosen != view.candidates.end(), "chose one that is no candidate");
  if (violation_) return;
  if (policy_ == Balance::first) {
    check(chosen == view.candidates.begin(), "first is not the first");
  }
  if (policy_ == Balance::least_connections) {
    for (const Candidate& other : view.candidates) {
      check(std::uint64_t{chosen->active} * other.weight <=
                std::uint64_t{other.active} * chosen->weight,
            "another backend has fewer connections for its weight");
    }
  }
  if (policy_ == Balance::source_hash) {
    std::vector<std::size_t> among = {*view.tier};
    for (const Candidate& candidate : view.candidates) among.push_back(candidate.index);
    const auto [known, fresh] = hashed_.try_emplace({session.source, among}, place);
    check(known->second == place, "a source changed its backend among the same candidates");
  }
}

void Simulation::check_dial(const Session& session, std::size_t index, TimePoint until) {
  const ModelBackend& backend = backends_[index];
  check(backend.weight > 0, "dials a backend of weight 0");
  check(has_room(backend), "dials a backend that is full");
  check(!session.banned.contains(index), "dials an excluded backend");
  check(!session.failed.contains(index) || now_ >= session.failed_at + 100ms,
        "dials a backend again within 100 ms");
  check(session.dials < most_dials(), "one dial too many");
  check(until <= now_ + connect_, "a dial outlasts its own bound");
  check(until <= overall(session), "a dial outlasts the overall deadline");
  check(until == now_ + connect_ || until == overall(session), "a dial is cut short for nothing");
  check(now_ < overall(session), "dials past the overall deadline");
  for (const ModelBackend& other : backends_) {
    const auto place = static_cast<std::size_t>(&other - backends_.data());
    if (other.tier >= backend.tier || other.weight == 0 || !has_room(other)) continue;
    check(session.banned.contains(place), "uses a lower tier while an upper one has a backend");
  }
}

// `left` is what the plan was told.
void Simulation::check_giving_up(const Session& session, CloseReason reason, Left left) {
  check(session.last.has_value(), "gives up on dials that were never made");
  if (violation_) return;
  const bool spent = session.dials >= most_dials() && (options_.attempts > 0 || !options_.enabled);
  const bool nobody = left == Left::none || (left == Left::only_excluded && options_.attempts == 0);
  if (reason == CloseReason::retry_deadline_exhausted) {
    check(overall(session) != kNever, "there is no overall deadline to exhaust");
    const bool cut_short = session.last == DialOutcome::timeout && now_ == overall(session);
    check(cut_short || (!spent && !nobody), "blames the deadline for what it did not prevent");
    const Duration longest_wait = std::max<Duration>(options_.backoff_max, 150ms);
    check(now_ + longest_wait + 1ms > overall(session), "gives up long before the deadline");
    return;
  }
  check(reason == close_reason(*session.last), "ends with another reason than its last dial's");
  check(spent || nobody, "gives up although it could dial on");
}

void Simulation::check_counts() {
  std::vector<std::uint32_t> active(backends_.size(), 0);
  std::uint64_t live = 0;
  for (const Session* session : sessions_) {
    const bool over = session->state == Session::State::over;
    live += over ? 0U : 1U;
    if (session->backend) ++active[*session->backend];
    check(session->ends.size() == (over ? 1U : 0U), "a session without exactly one end");
    check(static_cast<bool>(session->slot) == !over, "a slot outlives its session or the reverse");
    check(static_cast<bool>(session->permit) == (session->state == Session::State::dialling),
          "a permit without a dial or the reverse");
    check(session->dials == static_cast<std::size_t>(session->plan.dials()), "dials miscounted");
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      if (over) break;  // what a plan that gave up still excludes matters to nobody
      check(session->plan.excluded(i) == session->banned.contains(i), "excludes the wrong backend");
    }
  }
  check(admission_.active() == live, "the pool's active is not its live sessions");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < backends_.size(); ++i) {
    sum += backends_[i].active;
    check(backends_[i].active == active[i], "a backend's active is not its dials and sessions");
    check(backends_[i].max_active == 0 || active[i] <= backends_[i].max_active,
          "a backend over its capacity");
  }
  check(sum <= admission_.active(), "the backends hold more sessions than the pool");
}

void Simulation::check_at_rest() {
  check(admission_.active() == 0, "at rest the pool is not empty");
  for (const ModelBackend& backend : backends_) {
    check(backend.active == 0, "at rest a backend is not empty");
  }
  for (const Session* session : sessions_) {
    check(session->ends.size() == 1, "at rest a session has no end");
  }
}

}  // namespace weir::core
