#include "weir/upstream/selector.h"

#include "weir/upstream/pool.h"

namespace weir::upstream {

void Selector::begin_look() {
  left_ = core::Left::none;
  refusals_ = {};
}

void Selector::collect(Pool& pool, std::size_t tier, const core::DialPlan& plan,
                       core::TimePoint now, Asking asking) {
  candidates_.clear();
  const std::vector<std::size_t>& places = pool.tiers()[tier].backends;
  for (std::size_t index = 0; index < places.size(); ++index) {
    const std::size_t place = places[index];
    Backend& backend = pool.backend(place);
    if (pool.weight(place) == 0 || !backend.takes_sessions()) continue;
    // Before the circuit, which then is not asked: nobody probes a backend that checks find down.
    if (!backend.healthy()) continue;
    if (!backend.circuit().eligible(now)) {
      refusals_.circuit = true;
      if (asking == Asking::to_choose) backend.count_circuit_refusal();
      continue;
    }
    if (lost_.contains(place)) continue;
    if (backend.at_capacity()) {
      refusals_.capacity = true;
      continue;
    }
    if (plan.excluded(place)) {
      if (left_ == core::Left::none) left_ = core::Left::only_excluded;
      continue;
    }
    left_ = core::Left::some;
    candidates_.push_back({index, pool.weight(place), backend.active()});
  }
}

std::optional<Selection> Selector::select(Pool& pool, const core::DialPlan& plan,
                                          std::uint64_t source_hash, core::TimePoint now) {
  begin_look();
  lost_.clear();
  Asking asking = Asking::to_choose;
  for (std::size_t tier = 0; tier < pool.tiers().size();) {
    const core::Left above = left_;  // what the tiers before this one hold
    collect(pool, tier, plan, now, asking);
    const auto index = pool.pick(tier, candidates_, source_hash, rng_);
    if (!index) {
      ++tier;
      asking = Asking::to_choose;
      continue;
    }
    const std::size_t place = pool.tiers()[tier].backends[*index];
    Selection selection{place, pool.backend(place).claim(), {}};
    if (selection.lease) selection.permit = pool.backend(place).circuit().admit(now);
    if (selection.permit) return selection;
    // Another thread was quicker: choose again, in this tier, without it.
    (selection.lease ? refusals_.circuit : refusals_.capacity) = true;
    lost_.insert(place);
    asking = Asking::to_look;  // those whom a circuit keeps out are counted by now
    left_ = above;
  }
  return std::nullopt;
}

core::Left Selector::look(Pool& pool, const core::DialPlan& plan, core::TimePoint now) {
  begin_look();
  lost_.clear();
  for (std::size_t tier = 0; tier < pool.tiers().size() && left_ != core::Left::some; ++tier) {
    collect(pool, tier, plan, now, Asking::to_look);
  }
  return left_;
}

}  // namespace weir::upstream
