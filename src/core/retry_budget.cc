#include "weir/core/retry_budget.h"

namespace weir::core {

void RetryBudget::count_primary(TimePoint now) {
  const std::lock_guard lock(mutex_);
  primaries_.add(slice(now));
}

bool RetryBudget::charge(TimePoint now) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t percent = percent_.load(std::memory_order_relaxed);
  if (percent == 0) return true;  // lifted a moment ago
  const std::uint64_t most = primaries_.count(slice(now)) * percent / 100 + kFloor;
  if (retries_.count(slice(now)) >= most) return false;
  retries_.add(slice(now));
  return true;
}

}  // namespace weir::core
