#pragma once

#include <string>
#include <vector>

#include "tests/e2e/test_weir.h"
#include "weir/admin/snapshot.h"
#include "weir/config/plan.h"

// What a plan says, and what a reload then does.
namespace weir::e2e {

// Without what is kept, one line an item.
std::vector<std::string> changes(const config::Plan& plan);

// Reloads, and holds the snapshots before and after against the plan: what is kept or retuned has
// its gauges, totals and circuits still, and so has what is resumed, what is added or reset begins
// with nothing, and sessions of what is drained are counted on it. For a weir in which nobody comes
// or goes meanwhile. Answers the plan's changes.
std::vector<std::string> reload_as_planned(TestWeir& weir, const std::string& yaml,
                                           At at = At::here());

// No total of the later snapshot is below that of the earlier, of pools and listeners in both.
void check_totals_grew(const admin::Snapshot& before, const admin::Snapshot& after);

// In a weir without dials and waiters: each pool counts the sessions that its backends count.
void check_gauges_add_up(const admin::Snapshot& now);

}  // namespace weir::e2e
