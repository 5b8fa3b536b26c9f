#include "config/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

namespace weir::config {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? value : std::numeric_limits<std::uint64_t>::max();
}

namespace {

// From the smallest on.
constexpr std::array<std::pair<std::string_view, core::Duration>, 4> kUnits{
    {{"ms", milliseconds(1)}, {"s", seconds(1)}, {"m", minutes(1)}, {"h", hours(1)}}};

}  // namespace

std::optional<core::Duration> parse_duration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> count = parse_integer(text.substr(0, digits));
  if (!count) return std::nullopt;
  for (const auto& [name, unit] : kUnits) {
    if (text.substr(digits) != name) continue;
    const auto most = static_cast<std::uint64_t>(core::Duration::max() / unit);
    if (*count > most) return std::chrono::floor<hours>(core::Duration::max());
    return unit * static_cast<std::int64_t>(*count);
  }
  return std::nullopt;
}

std::optional<double> parse_fraction(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::optional<std::uint64_t> whole = parse_integer(text.substr(0, point));
  if (!whole) return std::nullopt;
  if (point == std::string_view::npos) return static_cast<double>(*whole);
  const std::string_view digits = text.substr(point + 1);
  constexpr std::size_t kMostDigits = 4;
  if (digits.empty() || digits.size() > kMostDigits ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  double part = 0;
  double scale = 1;
  for (const char digit : digits) {
    part = part * 10 + (digit - '0');
    scale *= 10;
  }
  return static_cast<double>(*whole) + part / scale;
}

std::string duration_text(core::Duration duration) {
  if (duration == core::Duration::zero()) return "0s";
  for (auto unit = kUnits.rbegin(); unit != kUnits.rend(); ++unit) {
    if (duration % unit->second == core::Duration::zero()) {
      return fmt::format("{}{}", duration / unit->second, unit->first);
    }
  }
  return fmt::format("{}ms", duration / milliseconds(1));  // no file holds less
}

std::string fraction_text(double fraction) {
  std::string text = fmt::format("{:.4f}", fraction);  // as many digits as are read
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(kCharacters) == std::string_view::npos;
}

bool is_yaml_word(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::array<std::string_view, 10> kWords{"true", "false", "yes", "no",   "on",
                                                    "off",  "y",     "n",   "null", "~"};
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

}  // namespace weir::config
