#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/config/duration.h"
#include "weir/core/time.h"

namespace weir::config {

// Decimal digits and nothing else: no sign, no leading zero, no `1e3`, `0x10`, `1_000`, `3.0`. What
// does not fit is the largest value, so that it is out of every range rather than not a number.
std::optional<std::uint64_t> parse_integer(std::string_view text);

// A decimal fraction with at most four digits behind the point: `0`, `1`, `0.25`. No sign, no
// exponent, no needless zero in front.
std::optional<double> parse_fraction(std::string_view text);

// The texts that these two read as the value: a duration in the largest unit that divides it
// (milliseconds are the smallest), a fraction without needless digits.
std::string duration_text(core::Duration duration);
std::string fraction_text(double fraction);

// `true` or `false`, the only two spellings.
std::optional<bool> parse_boolean(std::string_view text);

// 1 to 64 of A-Z a-z 0-9 _ . -
bool is_name(std::string_view text);

// Words that a YAML reader takes for a boolean or null when they stand without quotes; any case.
bool is_yaml_word(std::string_view text);

}  // namespace weir::config
