#include "weir/upstream/pool_state.h"

#include <algorithm>
#include <utility>

#include "weir/upstream/pool.h"

namespace weir::upstream {

PoolState::PoolState(const PoolOptions& options, std::size_t workers, std::uint64_t seed,
                     net::Journal* journal)
    : name_(options.name),
      journal_(journal),
      admission_(options.resilience.admission),
      retry_budget_(options.resilience.retry_budget_percent),
      totals_(workers),
      seeds_(seed) {}

std::shared_ptr<Backend> PoolState::make_backend(const BackendOptions& options,
                                                 const PoolOptions& pool) {
  const std::lock_guard lock(mutex_);
  return std::make_shared<Backend>(options, pool.resilience, name_, seeds_.next(), workers(),
                                   pool.health, journal_);
}

std::shared_ptr<Pool> PoolState::current() const {
  const std::lock_guard lock(mutex_);
  return current_.lock();
}

void PoolState::set_current(const std::shared_ptr<Pool>& pool) {
  const std::lock_guard lock(mutex_);
  current_ = pool;
}

void PoolState::remove(std::shared_ptr<Backend> backend, core::TimePoint now) {
  Duty duty = backend->duty();
  duty.removed = true;
  backend->set_duty(duty);
  const std::lock_guard lock(mutex_);
  if (backend->deserted()) {
    past_.add(backend->totals(now));
  } else {
    removed_.push_back(std::move(backend));
  }
}

PoolState::Backends::const_iterator PoolState::find_removed(const BackendOptions& options) const {
  return std::find_if(removed_.begin(), removed_.end(),
                      [&](const std::shared_ptr<Backend>& backend) {
                        return backend->name() == options.name &&
                               backend->endpoint() == options.address && !backend->deserted();
                      });
}

bool PoolState::would_take_back(const BackendOptions& options) const {
  const std::lock_guard lock(mutex_);
  return find_removed(options) != removed_.end();
}

std::shared_ptr<Backend> PoolState::take_back(const BackendOptions& options) {
  const std::lock_guard lock(mutex_);
  const auto found = find_removed(options);
  if (found == removed_.end()) return nullptr;
  std::shared_ptr<Backend> backend = *found;
  removed_.erase(found);
  Duty duty = backend->duty();
  duty.removed = false;
  backend->set_duty(duty);
  return backend;
}

// Who is deserted and takes no sessions has no dial and no verdict outstanding: its totals are
// final.
std::vector<std::string> PoolState::forget_deserted(core::TimePoint now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  std::erase_if(removed_, [&](const std::shared_ptr<Backend>& backend) {
    if (!backend->deserted()) return false;
    past_.add(backend->totals(now));
    names.push_back(backend->name());
    return true;
  });
  return names;
}

std::vector<std::shared_ptr<Backend>> PoolState::removed() const {
  const std::lock_guard lock(mutex_);
  return removed_;
}

BackendTotals PoolState::past() const {
  const std::lock_guard lock(mutex_);
  return past_;
}

}  // namespace weir::upstream
