#pragma once

#include <memory>
#include <vector>

#include "weir/core/random.h"
#include "weir/net/log.h"
#include "weir/upstream/dial.h"

namespace weir::upstream {

class Pool;

// The active checks of one pool, on the control loop: each backend's by itself, one at a time, from
// start to start of two checks `interval` or, where a check takes longer, as long as it takes. What
// they come to is in Backend::health(). Also of backends with weight 0, so that an operator who
// raises it knows. A check that fails for want of something of ours counts as none, and is warned
// of. The destructor cancels what is under way, without an outcome.
class HealthChecker {
 public:
  // The pool has health options. `seed` is for the moments of the first checks:
  // pools and instances that should not check in step need different ones. Checks begin when the
  // loop runs.
  HealthChecker(net::Loop& loop, net::Resolver& resolver, std::shared_ptr<Pool> pool,
                std::uint64_t seed);
  ~HealthChecker();

  // The pool that a reload made of the one before; it has health options too. Backends that are in
  // both are checked on in their rhythm, by the new options from the next check on.
  void retune(std::shared_ptr<Pool> pool);

 private:
  class Checks;  // of one backend

  void begin(const std::shared_ptr<Backend>& backend, std::size_t place, core::TimePoint now);
  void warn_of_own_fault(const Backend& backend, core::DialResult result);

  net::Loop& loop_;
  std::shared_ptr<Pool> pool_;
  core::Rng rng_;
  const double turn_;  // when the pool checks, within the interval
  const Dial::Context context_;
  net::LogRate own_faults_{std::chrono::seconds(10)};  // as every warning that could repeat
  std::vector<std::unique_ptr<Checks>> checks_;
};

}  // namespace weir::upstream
