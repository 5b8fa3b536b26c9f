#include "weir/upstream/health_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>

#include "weir/net/loop.h"
#include "weir/net/timer.h"
#include "weir/upstream/pool.h"

namespace weir::upstream {

// One backend's: a dial under way, or the wait for the next, on the same timer.
class HealthChecker::Checks final : public Dial::Owner {
 public:
  Checks(HealthChecker& checker, Backend& backend, core::TimePoint first)
      : checker_(checker), backend_(backend), timer_(checker.loop_, [this] { on_timer(); }) {
    timer_.arm(first);
  }

 private:
  void on_timer() { dial_ ? dial_->on_timer() : begin(); }

  void begin() {
    started_ = checker_.loop_.now();
    switch (options().type) {
      case HealthType::tcp:
        dial_.emplace(checker_.context_, backend_, checker_.pool_.source(), terms(), timer_, *this);
        return dial_->start();
    }
  }

  void on_dialled(core::DialResult result, net::Socket) override {
    const core::TimePoint now = checker_.loop_.now();
    dial_.reset();
    timer_.arm(std::max(started_ + options().interval, now));
    backend_.health()->take(result.outcome, now);
    if (result.outcome == core::DialOutcome::local_error) {
      checker_.warn_of_own_fault(backend_, result);
    }
  }

  Dial::Terms terms() const {
    return {.deadline = started_ + options().timeout, .data_follows = false, .for_nobody = true};
  }
  const HealthOptions& options() const { return *checker_.pool_.options().health; }

  HealthChecker& checker_;
  Backend& backend_;
  net::Timer timer_;
  core::TimePoint started_{};
  std::optional<Dial> dial_;  // uses the timer, so it goes before it
};

HealthChecker::HealthChecker(net::Loop& loop, net::Resolver& resolver, Pool& pool,
                             std::uint64_t seed)
    : loop_(loop), pool_(pool), rng_(seed), context_{loop, resolver, rng_} {
  assert(pool.options().health);
  const core::TimePoint now = loop.refresh_now();
  const double turn = rng_.unit();
  for (std::size_t place = 0; place < pool.size(); ++place) {
    const core::Duration wait =
        core::first_check(place, pool.size(), pool.options().health->interval, turn, rng_);
    checks_.push_back(std::make_unique<Checks>(*this, pool.backend(place), now + wait));
  }
}

HealthChecker::~HealthChecker() = default;

void HealthChecker::warn_of_own_fault(const Backend& backend, core::DialResult result) {
  std::uint64_t held_back = 0;
  if (!own_faults_.admit(loop_.now(), held_back)) return;
  net::log(
      net::LogLevel::warning, "pool " + pool_.options().name, "backend {}: not checked: {}{}",
      backend.name(),
      result.no_local_port ? "no local port, or not the address, to dial it from"
                           : "no descriptor or memory for a socket",
      held_back == 0 ? "" : fmt::format("; {} more checks since this was last said", held_back));
}

}  // namespace weir::upstream
