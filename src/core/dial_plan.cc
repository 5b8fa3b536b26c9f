#include "weir/core/dial_plan.h"

#include <algorithm>
#include <cassert>

namespace weir::core {
namespace {

// A backend that just failed this client is left alone for this long before the client's next dial
// to it; up to half as much is added at random, so that clients which failed together spread out.
constexpr Duration kRedialWait = std::chrono::milliseconds(100);

// Timers tick in milliseconds and may fire within the last one before their time. Less than a tick
// left of the overall deadline is nothing left.
constexpr Duration kTick = std::chrono::milliseconds(1);

}  // namespace

DialPlan::DialPlan(const RetryOptions& options, Duration connect, TimePoint now)
    : options_(options),
      connect_(connect),
      overall_(options.enabled ? deadline(now, options.deadline) : kNever),
      backoff_(options.backoff_initial, options.backoff_max) {
  assert(connect > Duration::zero());
}

void DialPlan::started(std::size_t index) {
  assert(phase_ == Phase::choosing && !excluded(index));
  assert(dials_ == 0 || dials_remain());
  excluded_.insert(index);
  ++dials_;
  phase_ = Phase::dialling;
}

DialStep DialPlan::after(DialResult result, TimePoint now, Rng& rng, Left left) {
  assert(phase_ == Phase::dialling && result.outcome != DialOutcome::connected);
  phase_ = Phase::choosing;
  last_ = result;
  const auto jitter = rng.below(static_cast<std::uint64_t>(kRedialWait.count()) / 2 + 1);
  redial_at_ = now + kRedialWait + Duration(jitter);

  if (result.outcome == DialOutcome::timeout && past_overall(now)) {
    return give_up(CloseReason::retry_deadline_exhausted);
  }
  if (!retryable(result) || !dials_remain() || left == Left::none) return give_up(last_reason());
  const TimePoint at = now + backoff_.next(rng);
  if (left == Left::only_excluded) return lift_exclusions(at);
  return again(redialling_ ? std::max(at, redial_at_) : at);
}

DialStep DialPlan::exhausted(TimePoint now) {
  assert(phase_ == Phase::choosing && dials_ > 0);
  return lift_exclusions(now);
}

TimePoint DialPlan::dial_deadline(TimePoint now) const {
  return std::min(now + connect_, overall_);
}

CloseReason DialPlan::last_reason() const {
  assert(phase_ != Phase::dialling && dials_ > 0);
  return close_reason(last_.outcome);
}

bool DialPlan::dials_remain() const {
  if (!options_.enabled) return false;
  // With attempts 0 the exclusions alone bound it: every backend once.
  return options_.attempts == 0 || dials_ <= options_.attempts;
}

bool DialPlan::past_overall(TimePoint time) const { return time + kTick > overall_; }

DialStep DialPlan::lift_exclusions(TimePoint earliest) {
  if (options_.attempts == 0 || !dials_remain()) return give_up(last_reason());
  redialling_ = true;
  excluded_.clear();
  return again(std::max(earliest, redial_at_));
}

DialStep DialPlan::again(TimePoint at) {
  if (past_overall(at)) return give_up(CloseReason::retry_deadline_exhausted);
  return {.at = at, .give_up = std::nullopt};
}

DialStep DialPlan::give_up(CloseReason reason) {
  phase_ = Phase::over;
  return {.at = {}, .give_up = reason};
}

CloseReason most_telling(Refusals refusals) {
  if (refusals.circuit) return CloseReason::circuit_open;
  if (refusals.capacity) return CloseReason::backend_at_capacity;
  return CloseReason::upstream_unavailable;
}

}  // namespace weir::core
