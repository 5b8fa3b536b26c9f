#include "ctl/words.h"

#include <fmt/format.h>

#include <array>

namespace weir::ctl {
namespace {

// The digits from `at` on as a number; nothing when one of them is not a digit.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char digit : text.substr(at, count)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + (digit - '0');
  }
  return value;
}

}  // namespace

std::string duration_text(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count() < 0 ? 0 : duration.count();
  const std::int64_t s = ms / 1000;
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (s < 10) return fmt::format("{}.{}s", s, ms % 1000 / 100);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d{:02}h", s / 86400, s % 86400 / 3600);
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  // From 1023.5 on it would be written as 1024 of the smaller unit.
  while (bytes >= 1023.5 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const bool fraction = unit > 0 && bytes < 9.95;
  return fmt::format("{:.{}f} {}", bytes, fraction ? 1 : 0, units[unit]);
}

std::string rate_text(std::optional<double> per_second) {
  if (!per_second) return "-";
  const double rate = *per_second;
  if (rate < 0.05) return "0";
  if (rate < 9.95) return fmt::format("{:.1f}", rate);
  if (rate < 9999.5) return fmt::format("{:.0f}", rate);
  if (rate < 999'950) return fmt::format("{:.1f}k", rate / 1e3);
  return fmt::format("{:.1f}M", rate / 1e6);
}

std::string countdown_text(std::optional<WallTime> at, WallTime now) {
  if (!at) return "-";
  if (*at <= now) return "due";
  using Tenths = std::chrono::duration<std::int64_t, std::ratio<1, 10>>;
  const auto left = std::chrono::ceil<Tenths>(*at - now);
  if (left < std::chrono::seconds(10)) {
    return fmt::format("in {}.{}s", left.count() / 10, left.count() % 10);
  }
  return "in " + duration_text(std::chrono::ceil<std::chrono::seconds>(*at - now));
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<WallTime> parse_time(std::string_view text) {
  // 2026-11-30T12:00:00.123Z
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text.back() != 'Z') {
    return std::nullopt;
  }
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const auto second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  int ms = 0;
  if (text.size() > 20) {
    if (text.size() != 24 || text[19] != '.') return std::nullopt;
    const auto fraction = digits(text, 20, 3);
    if (!fraction) return std::nullopt;
    ms = *fraction;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + std::chrono::milliseconds(ms);
}

std::string printable(std::string_view text) {
  std::string written;
  written.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 controls, U+0080 to U+009F, are 0xc2 and a byte below 0xa0 in UTF-8.
    const bool second_half =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f) {
      written += fmt::format("\\x{:02x}", byte);
    } else if (second_half) {
      written += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      written += text[i];
    }
  }
  return written;
}

}  // namespace weir::ctl
