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

BackendHealth::BackendHealth(const HealthOptions& options, core::Circuit& circuit,
                             const std::string& pool, std::string backend)
    : options_(options),
      circuit_(circuit),
      about_("pool " + pool),
      backend_(std::move(backend)),
      health_(options.rise, options.fall) {}

void BackendHealth::take(core::DialOutcome outcome, core::TimePoint now) {
  std::optional<HealthState> turned;
  {
    const std::lock_guard lock(mutex_);
    turned = health_.take(core::verdict(outcome));
    ++status_.checks[static_cast<std::size_t>(outcome)];
    status_.state = health_.state();
    status_.consecutive = health_.against();
    status_.last = outcome;
    status_.last_at = now;
  }
  if (turned) turn(*turned, outcome, now);
}

void BackendHealth::turn(HealthState to, core::DialOutcome last, core::TimePoint now) {
  if (to == HealthState::unhealthy) {
    healthy_.store(false, std::memory_order_release);
    net::log(net::LogLevel::warning, about_, "backend {}: unhealthy: {}, the last: {}", backend_,
             checks_that("failed", options_.fall), core::name(last));
    return;
  }
  net::log(net::LogLevel::info, about_, "backend {}: healthy: {}", backend_,
           checks_that("succeeded", options_.rise));
  // The gate last, so that nobody who passes it is refused by a circuit that is about to close.
  circuit_.recovered(now);
  healthy_.store(true, std::memory_order_release);
}

HealthStatus BackendHealth::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace weir::upstream
