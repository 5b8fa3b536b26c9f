#pragma once

#include <string>

#include "admin/process_stats.h"
#include "weir/admin/control.h"
#include "weir/admin/snapshot.h"

namespace weir::admin {

// The metrics of docs/metrics.md. Every label value is a configured name or a word of a closed
// list. What a list allows is there from the start with a 0, so that a rate sees the first one; but
// for the outcomes of each backend's dials, which would be most of the text.
std::string metrics(const Snapshot& snapshot, const Status& status, const ProcessStats& process);

}  // namespace weir::admin
