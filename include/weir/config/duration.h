#pragma once

#include <optional>
#include <string_view>

#include "weir/core/time.h"

namespace weir::config {

// An integer and one of `ms`, `s`, `m`, `h`, written together: `250ms`. What does not fit is the
// largest value of whole hours.
std::optional<core::Duration> parse_duration(std::string_view text);

}  // namespace weir::config
