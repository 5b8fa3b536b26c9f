#pragma once

#include <optional>
#include <string_view>

namespace weir::core {

// How a pool spreads new sessions over the backends of a tier; the words of the configuration.
enum class Balance { round_robin, least_connections, random_two, source_hash, first };

std::string_view name(Balance balance);
std::optional<Balance> parse_balance(std::string_view text);

}  // namespace weir::core
