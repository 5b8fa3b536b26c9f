#include "weir/core/waiter.h"

#include <cassert>
#include <optional>

#include "weir/core/admission.h"

namespace weir::core {

// Even a wait that was decided goes through the admission: the thread that decided may still be
// calling the watcher, and lets go of the mutex only after that.
Waiter::~Waiter() {
  if (waiting()) at_->leave(*this, std::nullopt);
}

Admitted Waiter::take() {
  assert(waiting());
  return at_->take(*this);
}

CloseReason Waiter::cancel(CloseReason reason) {
  return waiting() ? at_->leave(*this, reason) : reason;
}

}  // namespace weir::core
