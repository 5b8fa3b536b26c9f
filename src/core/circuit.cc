#include "weir/core/circuit.h"

#include <algorithm>

namespace weir::core {
namespace {

[[maybe_unused]] bool legal(CircuitPhase from, CircuitPhase to) {
  switch (from) {
    case CircuitPhase::closed:
      return to == CircuitPhase::open;
    case CircuitPhase::open:
      return to == CircuitPhase::half_open || to == CircuitPhase::closed;
    case CircuitPhase::half_open:
      return to == CircuitPhase::open || to == CircuitPhase::closed;
  }
  return false;
}

}  // namespace

Circuit::Circuit(const CircuitOptions& options, std::uint64_t seed, CircuitObserver* observer)
    : options_(options), rng_(seed), observer_(observer) {
  assert(options.fail_timeout > Duration::zero() && options.max_fails > 0);
  window_.set_length(options.window);
  publish();
}

bool Circuit::eligible_slowly(TimePoint now) {
  const std::lock_guard lock(mutex_);
  return would_admit(now);
}

Permit Circuit::admit_slowly(TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!would_admit(now)) {
    ++rejects_;
    return {};
  }
  if (passes_all()) return Permit(*this, kPassThrough, false);
  // Another thread has closed it since the gate was read.
  if (phase_ == CircuitPhase::closed) return Permit(*this, epoch_, false);
  if (phase_ == CircuitPhase::open) begin_half_open(now);
  ++probes_in_flight_;
  return Permit(*this, epoch_, true);
}

bool Circuit::would_admit(TimePoint now) {
  settle(now);
  if (passes_all()) return true;
  switch (phase_) {
    case CircuitPhase::closed:
      return true;
    case CircuitPhase::open:
      return order_ != Order::open && now >= open_until_;
    case CircuitPhase::half_open:
      return probe_slot_free();
  }
  return false;
}

bool Circuit::probe_slot_free() const {
  return options_.half_open_probes == 0 || probes_in_flight_ < options_.half_open_probes;
}

// The open time is counted from the bound, so that it does not matter who notices, nor when.
void Circuit::settle(TimePoint now) {
  if (phase_ != CircuitPhase::half_open || now < half_open_until_) return;
  open(half_open_until_, end_of_open(half_open_until_), TransitionCause::half_open_expired);
}

bool Circuit::takes_verdict(std::uint64_t epoch, TimePoint now) {
  settle(now);
  if (epoch != epoch_) {
    ++stale_results_;
    return false;
  }
  if (!passes_all()) return true;
  if (phase_ == CircuitPhase::half_open) --probes_in_flight_;
  return false;
}

// With the rate trigger on, every success comes here: a share of failures needs the successes as
// well, counted in the same order and under the same lock as the comparison. Whoever sets a window
// has asked for that; without one only a success after a failure does.
void Circuit::take_success_slowly(std::uint64_t epoch, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!takes_verdict(epoch, now)) return;
  if (phase_ == CircuitPhase::half_open) {
    return close_clean(now, TransitionCause::probe_succeeded);
  }
  set_fails(0);
  window_.add(now, false);
  // It may have been the sample that the minimum was waiting for.
  trip_if_rate_reached(now);
}

void Circuit::take_failure(std::uint64_t epoch, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (!takes_verdict(epoch, now)) return;
  if (phase_ == CircuitPhase::half_open) {
    return open(now, end_of_open(now), TransitionCause::probe_failed);
  }
  set_fails(fails_ + 1);
  window_.add(now, true);
  if (fails_ >= options_.max_fails) {
    return open(now, end_of_open(now), TransitionCause::consecutive_failures);
  }
  trip_if_rate_reached(now);
}

void Circuit::trip_if_rate_reached(TimePoint now) {
  if (options_.window == Duration::zero()) return;
  const OutcomeWindow::Tally tally = window_.tally(now);
  if (tally.samples < options_.min_samples || tally.failures == 0) return;
  // Divided, not multiplied: 7 of 100 is exactly the number that 0.07 is read as.
  const double rate = static_cast<double>(tally.failures) / static_cast<double>(tally.samples);
  if (rate >= options_.failure_rate) {
    open(now, end_of_open(now), TransitionCause::failure_rate);
  }
}

void Circuit::give_back_probe(std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (epoch == epoch_) --probes_in_flight_;
}

void Circuit::recovered(TimePoint now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  if (order_ != Order::open) close_clean(now, TransitionCause::health_recovered);
}

void Circuit::set_options(const CircuitOptions& options, TimePoint now) {
  assert(options.fail_timeout > Duration::zero() && options.max_fails > 0);
  const std::lock_guard lock(mutex_);
  settle(now);  // by the options that were in force then
  options_ = options;
  window_.set_length(options.window);
  publish();
}

void Circuit::force_open(TimePoint now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  order_ = Order::open;
  if (phase_ == CircuitPhase::open) {
    open_until_ = now;
    return publish();
  }
  open(now, now, TransitionCause::operator_open);
}

void Circuit::close(TimePoint now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  if (order_ == Order::open) order_ = Order::automatic;
  close_clean(now, TransitionCause::operator_close);
}

void Circuit::bypass() {
  const std::lock_guard lock(mutex_);
  order_ = Order::bypass;
  publish();
}

void Circuit::automatic(TimePoint now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  if (order_ == Order::open) open_until_ = now;
  order_ = Order::automatic;
  publish();
}

// The gate shuts before anything else changes.
void Circuit::open(TimePoint at, TimePoint until, TransitionCause cause) {
  closed_epoch_.store(0, std::memory_order_release);
  open_until_ = until;
  enter(CircuitPhase::open, at, cause);
  publish();
}

void Circuit::begin_half_open(TimePoint now) {
  half_open_until_ = now + options_.fail_timeout;
  enter(CircuitPhase::half_open, now, TransitionCause::probe_started);
}

// The gate opens after everything else has changed.
void Circuit::close_clean(TimePoint now, TransitionCause cause) {
  set_fails(0);
  window_.clear();
  if (phase_ != CircuitPhase::closed) enter(CircuitPhase::closed, now, cause);
  publish();
}

void Circuit::enter(CircuitPhase to, TimePoint at, TransitionCause cause) {
  assert(legal(phase_, to));
  const CircuitPhase from = phase_;
  phase_ = to;
  ++epoch_;
  probes_in_flight_ = 0;  // those of the epoch before are stale
  ++transitions_[static_cast<std::size_t>(to)];
  if (observer_ == nullptr) return;
  TimePoint until{};
  if (to == CircuitPhase::open) until = open_until_;
  if (to == CircuitPhase::half_open) until = half_open_until_;
  observer_->on_transition({from, to, epoch_, at, cause, until});
}

TimePoint Circuit::end_of_open(TimePoint start) {
  const double most = static_cast<double>(options_.fail_timeout.count()) * options_.jitter;
  const Duration extra(static_cast<Duration::rep>(most * rng_.unit()));
  return start + options_.fail_timeout + extra;
}

void Circuit::set_fails(std::uint32_t fails) {
  fails_ = fails;
  const bool counts = fails > 0 || options_.window > Duration::zero();
  if (success_counts_.load(std::memory_order_relaxed) != counts) {
    success_counts_.store(counts, std::memory_order_relaxed);
  }
}

// Last of all: what the lock-free paths go by.
void Circuit::publish() {
  set_fails(fails_);
  std::uint64_t gate = 0;
  if (passes_all()) {
    gate = kPassThrough;
  } else if (phase_ == CircuitPhase::closed) {
    gate = epoch_;
  }
  closed_epoch_.store(gate, std::memory_order_release);
}

void Circuit::restore(const CircuitStatus& before, TimePoint now) {
  const std::lock_guard lock(mutex_);
  assert(phase_ == CircuitPhase::closed && epoch_ == 1);
  fails_ = before.fails;
  if (before.bypassed) order_ = Order::bypass;
  if (before.forced_open) order_ = Order::open;
  if (before.phase == CircuitPhase::closed) return publish();
  const bool half_open = before.phase == CircuitPhase::half_open;
  const TimePoint until = half_open ? before.half_open_until : before.open_until;
  open(now, std::max(until, now), TransitionCause::upgraded);
}

CircuitStatus Circuit::status(TimePoint now) {
  const std::lock_guard lock(mutex_);
  settle(now);
  CircuitStatus status;
  status.phase = phase_;
  status.epoch = epoch_;
  status.fails = fails_;
  status.open_until = open_until_;
  status.half_open_until = half_open_until_;
  status.probe_due = phase_ == CircuitPhase::open && order_ != Order::open && now >= open_until_;
  status.enabled = options_.enabled;
  status.bypassed = order_ == Order::bypass;
  status.forced_open = order_ == Order::open;
  status.probes_in_flight = probes_in_flight_;
  if (phase_ == CircuitPhase::half_open) {
    if (options_.half_open_probes == 0) {
      status.probes_remaining = CircuitStatus::kUnbounded;
    } else if (probe_slot_free()) {
      status.probes_remaining = options_.half_open_probes - probes_in_flight_;
    }
  }
  status.stale_results = stale_results_;
  status.rejects = rejects_;
  status.transitions = transitions_;
  return status;
}

}  // namespace weir::core
