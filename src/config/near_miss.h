#pragma once

#include <string_view>
#include <vector>

namespace weir::config {

// The candidate that `word` most likely was meant to be: at most two letters wrong, missing, added
// or swapped, and fewer than half of the word. Empty when none is that close.
std::string_view near_miss(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace weir::config
