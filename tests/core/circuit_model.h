#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weir/core/circuit_options.h"
#include "weir/core/circuit_state.h"
#include "weir/core/random.h"

namespace weir::core {

// What a circuit is, said as plainly as possible: one thread, no gate, every outcome kept, and
// half-open ends the moment the clock passes its bound, not when somebody asks.
class CircuitModel {
 public:
  struct Leave {
    bool granted = false;
    bool judged = false;  // a verdict is taken
    std::uint64_t epoch = 0;
    bool probe = false;
  };

  CircuitModel(const CircuitOptions& options, std::uint64_t seed) : options_(options), rng_(seed) {}

  void clock(TimePoint now) {
    now_ = now;
    if (is(CircuitPhase::half_open) && now >= status_.half_open_until) {
      go(CircuitPhase::open, status_.half_open_until, TransitionCause::half_open_expired);
      status_.open_until = fresh_open_time(status_.half_open_until);
    }
  }

  bool eligible() const {
    if (passes_all() || is(CircuitPhase::closed)) return true;
    if (is(CircuitPhase::open)) return !status_.forced_open && now_ >= status_.open_until;
    return options_.half_open_probes == 0 || status_.probes_in_flight < options_.half_open_probes;
  }

  Leave admit() {
    if (!eligible()) {
      ++status_.rejects;
      return {};
    }
    if (passes_all()) return {true, false, 0, false};
    if (is(CircuitPhase::open)) {
      go(CircuitPhase::half_open, now_, TransitionCause::probe_started);
      status_.half_open_until = now_ + options_.fail_timeout;
    }
    if (is(CircuitPhase::half_open)) ++status_.probes_in_flight;
    return {true, true, status_.epoch, is(CircuitPhase::half_open)};
  }

  void verdict(const Leave& leave, bool failed) {
    if (!leave.judged) return;
    if (leave.epoch != status_.epoch) {
      ++status_.stale_results;
    } else if (passes_all()) {
      neutral(leave);
    } else if (leave.probe) {
      failed ? open(TransitionCause::probe_failed) : close(TransitionCause::probe_succeeded);
    } else {
      status_.fails = failed ? status_.fails + 1 : 0;
      outcomes_.push_back({now_, failed});
      if (status_.fails >= options_.max_fails) {
        open(TransitionCause::consecutive_failures);
      } else if (rate_reached()) {
        open(TransitionCause::failure_rate);
      }
    }
  }

  void neutral(const Leave& leave) {
    if (leave.probe && leave.epoch == status_.epoch) --status_.probes_in_flight;
  }

  void recovered() {
    if (!status_.forced_open) close(TransitionCause::health_recovered);
  }

  void set_options(const CircuitOptions& options) {
    if (options.window != options_.window) outcomes_.clear();
    options_ = options;
  }

  void force_open() {
    status_.bypassed = false;
    status_.forced_open = true;
    if (!is(CircuitPhase::open)) {
      go(CircuitPhase::open, now_, TransitionCause::operator_open);
    }
    status_.open_until = now_;
  }

  void operator_close() {
    status_.forced_open = false;
    close(TransitionCause::operator_close);
  }

  void bypass() {
    status_.bypassed = true;
    status_.forced_open = false;
  }

  void automatic() {
    if (status_.forced_open) status_.open_until = now_;
    status_.bypassed = false;
    status_.forced_open = false;
  }

  CircuitStatus status() const {
    CircuitStatus status = status_;
    status.enabled = options_.enabled;
    status.probe_due = is(CircuitPhase::open) && !status_.forced_open && now_ >= status_.open_until;
    if (is(CircuitPhase::half_open)) {
      const std::uint32_t most = options_.half_open_probes;
      status.probes_remaining =
          most == 0 ? CircuitStatus::kUnbounded : most - std::min(most, status_.probes_in_flight);
    }
    return status;
  }

  const std::vector<Transition>& told() const { return told_; }

 private:
  struct Outcome {
    TimePoint at;
    bool failed;
  };

  bool is(CircuitPhase phase) const { return status_.phase == phase; }
  bool passes_all() const { return !options_.enabled || status_.bypassed; }

  void go(CircuitPhase to, TimePoint at, TransitionCause cause) {
    told_.push_back({status_.phase, to, ++status_.epoch, at, cause});
    status_.phase = to;
    status_.probes_in_flight = 0;
    ++status_.transitions[static_cast<std::size_t>(to)];
  }

  void open(TransitionCause cause) {
    go(CircuitPhase::open, now_, cause);
    status_.open_until = fresh_open_time(now_);
  }

  void close(TransitionCause cause) {
    status_.fails = 0;
    outcomes_.clear();
    if (!is(CircuitPhase::closed)) go(CircuitPhase::closed, now_, cause);
  }

  TimePoint fresh_open_time(TimePoint start) {
    const auto whole = static_cast<double>(options_.fail_timeout.count());
    return start + options_.fail_timeout +
           Duration(static_cast<std::int64_t>(whole * options_.jitter * rng_.unit()));
  }

  // The window slides by tenths, counted from time 0.
  bool rate_reached() const {
    if (options_.window == Duration::zero()) return false;
    const auto tenth = [&](TimePoint at) { return at.time_since_epoch() / (options_.window / 10); };
    double samples = 0;
    double failures = 0;
    for (const Outcome& outcome : outcomes_) {
      if (tenth(now_) - tenth(outcome.at) >= 10) continue;
      ++samples;
      failures += outcome.failed ? 1 : 0;
    }
    return samples >= options_.min_samples && failures / samples >= options_.failure_rate;
  }

  CircuitOptions options_;
  Rng rng_;
  TimePoint now_{};
  CircuitStatus status_{.epoch = 1};
  std::vector<Outcome> outcomes_;
  std::vector<Transition> told_;
};

}  // namespace weir::core
