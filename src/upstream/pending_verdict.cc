#include "weir/upstream/pending_verdict.h"

#include <cassert>

namespace weir::upstream {

PendingVerdict::PendingVerdict(core::Permit permit, const DialCounters& counters)
    : permit_(std::move(permit)), counters_(counters) {
  assert(permit_);
}

PendingVerdict::~PendingVerdict() {
  if (counters_) count(core::DialOutcome::connected);
}

void PendingVerdict::answered(core::TimePoint now) {
  permit_.succeed(now);
  count(core::DialOutcome::connected);
}

void PendingVerdict::failed(core::DialOutcome outcome, core::TimePoint now) {
  assert(core::verdict(outcome) == core::Verdict::failure);
  count(outcome);
  permit_.fail(now);
}

void PendingVerdict::count(core::DialOutcome outcome) {
  counters_->add(outcome);
  counters_.reset();
}

}  // namespace weir::upstream
