#pragma once

#include <cstddef>
#include <string_view>

#include "config/problems.h"

namespace weir::config {

inline constexpr std::size_t kLargestFile = std::size_t{4} << 20;  // fixed by the contract

// What is checked before yaml-cpp sees the text, because it would take it silently, unclearly or
// at the cost of a gigabyte: size, encoding, control characters, tabs as indentation, and a flood
// of brackets. False when the text must not be parsed; the reason is then the only problem.
[[nodiscard]] bool guard_text(std::string_view text, Problems& problems);

// The number of leading bytes of `text` that are valid UTF-8 without control characters, where tab,
// LF and CR LF are not counted as such.
std::size_t clean_prefix(std::string_view text);

}  // namespace weir::config
