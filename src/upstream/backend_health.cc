#include "weir/upstream/backend_health.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "weir/net/log.h"

namespace weir::upstream {
namespace {

using core::HealthState;

// `failed` or `succeeded`.
std::string checks_that(std::string_view ended, std::uint32_t count) {
  return count == 1 ? fmt::format("a check {}", ended)
                    : fmt::format("{} checks {} in a row", count, ended);
}

}  // namespace

BackendHealth::BackendHealth(const std::optional<HealthOptions>& options, core::Circuit& circuit,
                             std::string pool, std::string backend, net::Journal* journal)
    : circuit_(circuit),
      pool_(std::move(pool)),
      backend_(std::move(backend)),
      journal_(journal),
      checked_(options.has_value()),
      options_(options.value_or(HealthOptions{})),
      health_(options_.rise, options_.fall) {}

void BackendHealth::set_options(const std::optional<HealthOptions>& options) {
  bool was_unhealthy = false;
  {
    const std::lock_guard lock(mutex_);
    checked_.store(options.has_value(), std::memory_order_relaxed);
    options_ = options.value_or(HealthOptions{});
    if (options) return health_.set_thresholds(options_.rise, options_.fall);
    const auto totals = status_.checks;
    was_unhealthy = status_.state == HealthState::unhealthy;
    health_ = core::Health(options_.rise, options_.fall);
    status_ = {};
    status_.checks = totals;
    healthy_.store(true, std::memory_order_release);
  }
  if (!was_unhealthy) return;
  const std::string cause = "a reload has ended its checks";
  tell(HealthState::healthy, cause);
  if (journal_ == nullptr) return;
  journal_->add(net::EventKind::health, pool_, backend_,
                std::string(core::name(HealthState::healthy)), cause);
}

void BackendHealth::tell(HealthState to, const std::string& cause) const {
  const bool trouble = to == HealthState::unhealthy;
  net::log(trouble ? net::LogLevel::warning : net::LogLevel::info, "pool " + pool_,
           "backend {}: {}: {}", backend_, core::name(to), cause);
}

void BackendHealth::restore_unhealthy() {
  const std::lock_guard lock(mutex_);
  if (!checked()) return;
  health_.begin_unhealthy();
  status_.state = HealthState::unhealthy;
  healthy_.store(false, std::memory_order_release);
}

void BackendHealth::take(core::DialOutcome outcome, core::TimePoint now) {
  std::optional<HealthState> turned;
  std::string cause;
  {
    const std::lock_guard lock(mutex_);
    if (!checked()) return;
    turned = health_.take(core::verdict(outcome));
    ++status_.checks[static_cast<std::size_t>(outcome)];
    status_.state = health_.state();
    status_.consecutive = health_.against();
    status_.last = outcome;
    status_.last_at = now;
    if (turned == HealthState::unhealthy) {
      cause = fmt::format("{}, the last: {}", checks_that("failed", options_.fall),
                          core::name(outcome));
    } else if (turned) {
      cause = checks_that("succeeded", options_.rise);
    }
  }
  if (turned) turn(*turned, cause, now);
}

void BackendHealth::turn(HealthState to, const std::string& cause, core::TimePoint now) {
  const bool trouble = to == HealthState::unhealthy;
  if (trouble) healthy_.store(false, std::memory_order_release);
  tell(to, cause);
  if (journal_ != nullptr) {
    journal_->add(net::EventKind::health, pool_, backend_, std::string(core::name(to)), cause, now);
  }
  if (trouble) return;
  // The gate last, so that nobody who passes it is refused by a circuit that is about to close.
  circuit_.recovered(now);
  healthy_.store(true, std::memory_order_release);
}

HealthStatus BackendHealth::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace weir::upstream
