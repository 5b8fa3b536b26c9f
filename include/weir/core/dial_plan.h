#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "weir/core/backoff.h"
#include "weir/core/close_reason.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/index_set.h"
#include "weir/core/random.h"
#include "weir/core/retry_options.h"
#include "weir/core/time.h"

namespace weir::core {

// What follows a dial that failed: choose a backend and dial it at `at`, or end the session.
struct DialStep {
  TimePoint at{};                      // not before; in the past or now = at once
  std::optional<CloseReason> give_up;  // set: no further dial, and this is why
};

// Whom a look at the candidates finds, with the gates applied; looking claims nothing.
enum class Left : std::uint8_t {
  some,           // at least one that this connection may dial
  only_excluded,  // eligible ones, but all of them excluded by this connection's plan
  none,           // not a single eligible backend
};

// The decisions about one connection's dials: whom not to dial again, whether and when to dial once
// more, until when, and why to give up. It sees no sockets and chooses no backend. Backends are
// known by their place in the pool. One owner, one thread; allocates only for pools over 64
// backends.
//
// The owner's loop: unless it is too_late() choose among the eligible backends that are not
// excluded(); started(), dial until dial_deadline(); when it failed do what after() says. When the
// choice comes up empty: with dials() == 0 end as most_telling(); when only excluded ones were left
// do what exhausted() says; else end as last_reason().
class DialPlan {
 public:
  // `connect` bounds one dial and is never 0. The overall deadline counts from `now`.
  DialPlan(const RetryOptions& options, Duration connect, TimePoint now);

  // Whether this connection's earlier dials rule the backend out.
  bool excluded(std::size_t index) const { return excluded_.contains(index); }

  // A dial begins; the backend, not excluded until now, is excluded from here on.
  void started(std::size_t index);

  // The dial ended as `result`, anything but connected. With `left`, a look at the candidates taken
  // now, nobody waits out a back-off only to find that there was no one to dial.
  [[nodiscard]] DialStep after(DialResult result, TimePoint now, Rng& rng, Left left = Left::some);

  // The choice found eligible backends, but only excluded ones, and at least one dial was made.
  // With attempts to spare the exclusions are lifted, once 100 ms have passed since the last dial.
  [[nodiscard]] DialStep exhausted(TimePoint now);

  // A wait between dials took longer than it was meant to, as after a stall of the whole process,
  // and the overall deadline has passed: end as `retry_deadline_exhausted` and choose nobody.
  bool too_late(TimePoint now) const { return dials_ > 0 && past_overall(now); }

  // When a dial that starts now times out: its own bound or what is left of the overall deadline.
  TimePoint dial_deadline(TimePoint now) const;

  // How the session ends when no backend is left to dial. At least one dial has ended.
  CloseReason last_reason() const;

  int dials() const { return dials_; }

 private:
  enum class Phase : std::uint8_t { choosing, dialling, over };

  bool dials_remain() const;
  bool past_overall(TimePoint time) const;
  DialStep lift_exclusions(TimePoint earliest);
  DialStep again(TimePoint at);
  DialStep give_up(CloseReason reason);

  RetryOptions options_;
  Duration connect_;
  TimePoint overall_;
  Backoff backoff_;
  IndexSet excluded_;
  TimePoint redial_at_{};  // the earliest time to dial a backend again that failed already
  int dials_ = 0;
  DialResult last_;
  Phase phase_ = Phase::choosing;
  bool redialling_ = false;  // the exclusions were lifted, so any choice may be such a backend
};

// The gates other than exclusion that kept backends from being candidates.
struct Refusals {
  bool circuit = false;   // at least one backend was refused by its circuit
  bool capacity = false;  // at least one was at its limit
};

// Why a session ends for which no dial was ever possible.
CloseReason most_telling(Refusals refusals);

}  // namespace weir::core
