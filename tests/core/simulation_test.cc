#include "tests/core/simulation.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace weir::core;

namespace {

constexpr std::uint64_t kSeeds = 2000;

void run(std::uint64_t seed, bool trace, std::set<CloseReason>& reasons, std::uint64_t& dials) {
  Simulation simulation(seed, trace);
  const std::optional<std::string> violation = simulation.run();
  REQUIRE_MESSAGE(!violation, *violation, "; replay it with WEIR_SIM_SEED=", seed);
  reasons.insert(simulation.reasons().begin(), simulation.reasons().end());
  dials += simulation.dials();
}

}  // namespace

TEST_CASE("whatever clients and backends do, every session ends once and every count returns") {
  std::set<CloseReason> reasons;
  std::uint64_t dials = 0;
  if (const char* seed = std::getenv("WEIR_SIM_SEED")) {
    run(std::strtoull(seed, nullptr, 10), true, reasons, dials);
    return;
  }
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) run(seed, false, reasons, dials);

  // A world in which nothing happens would pass as well.
  CHECK(dials > 20 * kSeeds);
  for (const CloseReason reason :
       {CloseReason::client_closed, CloseReason::backend_closed, CloseReason::upstream_unavailable,
        CloseReason::backend_at_capacity, CloseReason::upstream_connect_failed,
        CloseReason::upstream_timeout, CloseReason::upstream_tls_identity,
        CloseReason::upstream_tls_failed, CloseReason::first_byte_timeout,
        CloseReason::retry_deadline_exhausted, CloseReason::local_error}) {
    CAPTURE(name(reason));
    CHECK(reasons.contains(reason));
  }
}
