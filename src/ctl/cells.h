#pragma once

#include <string>

#include "ctl/fields.h"
#include "ctl/lines.h"

// What several tables and the live screen write alike.
namespace weir::ctl {

// A state or verdict, marked by how bad it is.
Span state_cell(const Json& value);

// `3/100`; `3` when there is no limit.
Span limited_cell(const Json& count, const Json& limit);

// The phase of a circuit and what an operator has done to it: `open (forced)`, `closed (bypassed)`,
// `closed (off)`.
Span circuit_cell(const Json& circuit);

// When the state that a backend is in ends by itself: its circuit's phase, or its drain.
std::optional<WallTime> until_of(const Json& backend);

// Failures among a backend's dials.
std::uint64_t failures_of(const Json& backend);

}  // namespace weir::ctl
