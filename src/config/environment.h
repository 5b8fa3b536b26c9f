#pragma once

#include <string>
#include <string_view>

#include "weir/config/load.h"

namespace weir::config {

struct Substituted {
  std::string text;
  std::string error;  // empty exactly when `text` is valid
};

// Replaces each `${NAME}` and `${NAME:-default}`. This happens to one scalar after parsing, so no
// value can add keys or change what is around it, and what comes in is not looked at again.
[[nodiscard]] Substituted substitute(std::string_view text, const Environment& environment);

}  // namespace weir::config
