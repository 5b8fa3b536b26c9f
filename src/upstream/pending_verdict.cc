#include "weir/upstream/pending_verdict.h"

#include <cassert>

#include "weir/upstream/backend.h"

namespace weir::upstream {

PendingVerdict::PendingVerdict(core::Permit permit, Backend& backend, std::size_t worker)
    : permit_(std::move(permit)), backend_(&backend), worker_(worker) {
  assert(permit_);
}

PendingVerdict::~PendingVerdict() {
  if (backend_ != nullptr) count(core::DialOutcome::connected);
}

void PendingVerdict::answered(core::TimePoint now) {
  permit_.succeed(now);
  count(core::DialOutcome::connected);
}

void PendingVerdict::failed(core::DialOutcome outcome, core::TimePoint now) {
  assert(core::verdict(outcome) == core::Verdict::failure);
  permit_.fail(now);
  count(outcome);
}

void PendingVerdict::count(core::DialOutcome outcome) {
  std::exchange(backend_, nullptr)->dials(worker_)[static_cast<std::size_t>(outcome)].add();
}

}  // namespace weir::upstream
