#include "tests/simulation/simulation.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/core/sanitizer.h"

using namespace weir;
using core::CloseReason;
using simulation::Seen;
using simulation::Simulation;

namespace {

// In parts, so that ctest spreads them over the processors.
constexpr std::uint64_t kParts = 6;
constexpr std::uint64_t kSeeds = kThreadSanitizer ? 500 : 2000;  // of one part

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
  seen.probes_together += here.probes_together;
  seen.came_back += here.came_back;
  seen.began_anew += here.began_anew;
  seen.reasons.insert(here.reasons.begin(), here.reasons.end());
  seen.causes.insert(here.causes.begin(), here.causes.end());
}

void check_that_enough_happened(const Seen& seen) {
  CHECK(seen.dials > 20 * kSeeds);
  CHECK(seen.parked > 2 * kSeeds);
  CHECK(seen.granted_late > kSeeds);
  CHECK(seen.crossed > kSeeds / 20);
  CHECK(seen.stale > kSeeds);
  CHECK(seen.probes_together > kSeeds);
  CHECK(seen.came_back > kSeeds / 10);
  CHECK(seen.began_anew > kSeeds / 10);
  CHECK(seen.causes.size() == core::kTransitionCauses - 1);  // all but `upgraded`
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
void run_part(std::uint64_t part) {
  const std::uint64_t first = 1 + (part - 1) * kSeeds;
  Seen seen;
  if (const char* text = std::getenv("WEIR_SIM_SEED")) {
    const std::uint64_t seed = std::strtoull(text, nullptr, 10);
    // Those that belong to no part are the first one's.
    const bool nobodys = seed == 0 || seed > kParts * kSeeds;
    if (nobodys ? part == 1 : seed >= first && seed < first + kSeeds) run(seed, true, seen);
    return;
  }
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) run(seed, false, seen);
  check_that_enough_happened(seen);
}

}  // namespace

TEST_CASE("whatever clients, backends and operators do, every law holds, part 1 of 6") {
  run_part(1);
}

TEST_CASE("whatever clients, backends and operators do, every law holds, part 2 of 6") {
  run_part(2);
}

TEST_CASE("whatever clients, backends and operators do, every law holds, part 3 of 6") {
  run_part(3);
}

TEST_CASE("whatever clients, backends and operators do, every law holds, part 4 of 6") {
  run_part(4);
}

TEST_CASE("whatever clients, backends and operators do, every law holds, part 5 of 6") {
  run_part(5);
}

TEST_CASE("whatever clients, backends and operators do, every law holds, part 6 of 6") {
  run_part(6);
}
