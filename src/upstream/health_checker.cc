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
  Checks(HealthChecker& checker, std::shared_ptr<Backend> backend, core::TimePoint first)
      : checker_(checker),
        backend_(std::move(backend)),
        timer_(checker.loop_, [this] { on_timer(); }),
        next_(first) {
    timer_.arm(first);
  }

  const Backend& backend() const { return *backend_; }

  // A shorter interval holds for the wait that has begun as well.
  void retuned(core::TimePoint now) {
    if (dial_) return;
    next_ = std::min(next_, std::max(started_, now) + options().interval);
    timer_.arm(next_);
  }

 private:
  void on_timer() { dial_ ? dial_->on_timer() : begin(); }

  void begin() {
    started_ = checker_.loop_.now();
    pool_ = checker_.pool_;
    switch (options().type) {
      case HealthType::tcp:
        dial_.emplace(checker_.context_, *backend_, pool_->source(), terms(), timer_, *this);
        return dial_->start();
    }
  }

  void on_dialled(core::DialResult result, net::Socket) override {
    const core::TimePoint now = checker_.loop_.now();
    dial_.reset();
    next_ = std::max(started_ + options().interval, now);
    timer_.arm(next_);
    if (result.outcome == core::DialOutcome::local_error) {
      checker_.warn_of_own_fault(*backend_, result);
    }
    if (BackendHealth* health = backend_->health()) health->take(result.outcome, now);
  }

  Dial::Terms terms() const {
    return {.deadline = started_ + options().timeout, .data_follows = false, .for_nobody = true};
  }
  const HealthOptions& options() const { return *checker_.pool_->options().health; }

  HealthChecker& checker_;
  const std::shared_ptr<Backend> backend_;
  net::Timer timer_;
  core::TimePoint started_{};
  core::TimePoint next_;
  std::shared_ptr<Pool> pool_;  // the dial's
  std::optional<Dial> dial_;    // uses the timer and the pool, so it goes before them
};

HealthChecker::HealthChecker(net::Loop& loop, net::Resolver& resolver, std::shared_ptr<Pool> pool,
                             std::uint64_t seed)
    : loop_(loop),
      pool_(std::move(pool)),
      rng_(seed),
      turn_(rng_.unit()),
      context_{loop, resolver, rng_} {
  assert(pool_->options().health);
  const core::TimePoint now = loop.refresh_now();
  for (std::size_t place = 0; place < pool_->size(); ++place) {
    begin(pool_->backends()[place], place, now);
  }
}

HealthChecker::~HealthChecker() = default;

void HealthChecker::begin(const std::shared_ptr<Backend>& backend, std::size_t place,
                          core::TimePoint now) {
  const core::Duration wait =
      core::first_check(place, pool_->size(), pool_->options().health->interval, turn_, rng_);
  checks_.push_back(std::make_unique<Checks>(*this, backend, now + wait));
}

void HealthChecker::retune(std::shared_ptr<Pool> pool) {
  assert(pool->options().health);
  pool_ = std::move(pool);
  const core::TimePoint now = loop_.refresh_now();
  std::vector<std::unique_ptr<Checks>> before = std::exchange(checks_, {});
  for (std::size_t place = 0; place < pool_->size(); ++place) {
    const std::shared_ptr<Backend>& backend = pool_->backends()[place];
    const auto kept = std::find_if(before.begin(), before.end(), [&backend](const auto& each) {
      return each && &each->backend() == backend.get();
    });
    if (kept == before.end()) {
      begin(backend, place, now);
    } else {
      checks_.push_back(std::move(*kept));
      checks_.back()->retuned(now);
    }
  }
}

void HealthChecker::warn_of_own_fault(const Backend& backend, core::DialResult result) {
  std::uint64_t held_back = 0;
  if (!own_faults_.admit(loop_.now(), held_back)) return;
  net::log(
      net::LogLevel::warning, "pool " + pool_->options().name, "backend {}: not checked: {}{}",
      backend.name(),
      result.no_local_port ? "no local port, or not the address, to dial it from"
                           : "no descriptor or memory for a socket",
      held_back == 0 ? "" : fmt::format("; {} more checks since this was last said", held_back));
}

}  // namespace weir::upstream
