#include "weir/core/health.h"

#include <cmath>

namespace weir::core {

std::string_view name(HealthState state) {
  switch (state) {
    case HealthState::healthy:
      return "healthy";
    case HealthState::unhealthy:
      return "unhealthy";
  }
  return {};
}

std::optional<HealthState> Health::take(Verdict verdict) {
  if (verdict == Verdict::neutral) return std::nullopt;
  const bool healthy = state_ == HealthState::healthy;
  if (healthy == (verdict == Verdict::success)) {
    against_ = 0;
    return std::nullopt;
  }
  if (++against_ < (healthy ? fall_ : rise_)) return std::nullopt;
  against_ = 0;
  state_ = healthy ? HealthState::unhealthy : HealthState::healthy;
  return state_;
}

Duration first_check(std::size_t place, std::size_t backends, Duration interval, double turn,
                     Rng& rng) {
  assert(place < backends && turn >= 0 && turn < 1);
  const double share = (static_cast<double>(place) + rng.unit()) / static_cast<double>(backends);
  double whole = 0;
  const double part = std::modf(share + turn, &whole);
  return Duration(static_cast<Duration::rep>(static_cast<double>(interval.count()) * part));
}

}  // namespace weir::core
