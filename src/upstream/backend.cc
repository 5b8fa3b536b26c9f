#include "weir/upstream/backend.h"

#include <utility>

namespace weir::upstream {

BackendLease::~BackendLease() {
  if (backend_ != nullptr) backend_->active_.fetch_sub(1, std::memory_order_relaxed);
}

Backend::Backend(BackendOptions options, std::size_t workers)
    : options_(std::move(options)),
      address_text_(options_.address.text()),
      address_(net::SocketAddress::from(options_.address)),
      workers_(workers),
      totals_(std::make_unique<WorkerTotals[]>(workers)) {}

BackendLease Backend::claim() {
  std::uint32_t active = active_.load(std::memory_order_relaxed);
  do {
    if (options_.max_active != 0 && active >= options_.max_active) return {};
  } while (!active_.compare_exchange_weak(active, active + 1, std::memory_order_relaxed));
  return BackendLease(*this);
}

bool Backend::at_capacity() const {
  return options_.max_active != 0 && active() >= options_.max_active;
}

std::uint64_t Backend::dials(core::DialOutcome outcome) const {
  std::uint64_t sum = 0;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    sum += totals_[worker].dials[static_cast<std::size_t>(outcome)].value();
  }
  return sum;
}

}  // namespace weir::upstream
