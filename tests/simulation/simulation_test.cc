#include "tests/simulation/simulation.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/core/sanitizer.h"

using namespace weir;
using core::CloseReason;
using simulation::Seen;
using simulation::Simulation;

namespace {

// Of one test, so that ctest spreads them over the processors.
constexpr std::uint64_t kSeeds = kThreadSanitizer ? 400 : 1000;

void run(std::uint64_t seed, bool trace, Seen& seen) {
  Simulation simulation(seed, trace);
  const std::optional<std::string> broken = simulation.run();
  REQUIRE_MESSAGE(!broken, *broken, "; replay it with WEIR_SIM_SEED=", seed);
  const Seen& here = simulation.seen();
  seen.dials += here.dials;
  seen.parked += here.parked;
  seen.granted_late += here.granted_late;
  seen.crossed += here.crossed;
  seen.stale += here.stale;
  seen.shared_rounds += here.shared_rounds;
  seen.reasons.insert(here.reasons.begin(), here.reasons.end());
  seen.causes.insert(here.causes.begin(), here.causes.end());
}

void check_that_enough_happened(const Seen& seen) {
  CHECK(seen.dials > 20 * kSeeds);
  CHECK(seen.parked > 2 * kSeeds);
  CHECK(seen.granted_late > kSeeds);
  CHECK(seen.crossed > kSeeds / 20);
  CHECK(seen.stale > kSeeds);
  CHECK(seen.shared_rounds > kSeeds);
  CHECK(seen.causes.size() == core::kTransitionCauses);
  for (const CloseReason reason :
       {CloseReason::client_closed, CloseReason::backend_closed, CloseReason::proxy_overloaded,
        CloseReason::pending_timeout, CloseReason::client_left_queue,
        CloseReason::upstream_unavailable, CloseReason::circuit_open,
        CloseReason::backend_at_capacity, CloseReason::upstream_connect_failed,
        CloseReason::upstream_timeout, CloseReason::upstream_tls_identity,
        CloseReason::upstream_tls_failed, CloseReason::first_byte_timeout,
        CloseReason::retry_deadline_exhausted, CloseReason::local_error, CloseReason::shutdown}) {
    CAPTURE(name(reason));
    CHECK(seen.reasons.contains(reason));
  }
}

// WEIR_SIM_SEED names one seed, to be replayed with a trace instead.
void run_seeds(std::uint64_t first) {
  Seen seen;
  if (const char* seed = std::getenv("WEIR_SIM_SEED")) {
    const std::uint64_t given = std::strtoull(seed, nullptr, 10);
    // Whatever is beyond the last test's is replayed by the first.
    const bool ours = given >= first && given < first + kSeeds;
    if (ours || (first == 1 && given > 6 * kSeeds)) run(given, true, seen);
    return;
  }
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) run(seed, false, seen);
  check_that_enough_happened(seen);
}

}  // namespace

// One sentence, in parts.
#define WEIR_SIMULATION_PART(part)                                                         \
  TEST_CASE("whatever clients, backends and operators do, every law holds, part " #part) { \
    run_seeds(1 + (part - 1) * kSeeds);                                                    \
  }

WEIR_SIMULATION_PART(1)
WEIR_SIMULATION_PART(2)
WEIR_SIMULATION_PART(3)
WEIR_SIMULATION_PART(4)
WEIR_SIMULATION_PART(5)
WEIR_SIMULATION_PART(6)
