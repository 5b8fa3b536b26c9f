#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// How numbers and times are written for people.
namespace weir::ctl {

using WallTime = std::chrono::system_clock::time_point;

// `850ms`, `3.2s`, `42s`, `1m05s`, `2h03m`, `3d04h`: two units at most. Cut, not rounded, so that
// an age never reads as one that is not reached yet.
std::string duration_text(std::chrono::milliseconds duration);

// `512 B`, `1.5 KiB`, `20 MiB`.
std::string bytes_text(double bytes);

// A count a second: `0`, `0.4`, `37`, `12.3k`; `-` while there is none.
std::string rate_text(std::optional<double> per_second);

// `in 3.2s`; `due` once it has come; `-` without a time. Rounded up: what is shown is not over.
std::string countdown_text(std::optional<WallTime> at, WallTime now);

// `1 session`, `3 sessions`.
std::string plural(std::uint64_t count, std::string_view noun);

// RFC 3339 in UTC, as weir writes it; nothing for any other text.
std::optional<WallTime> parse_time(std::string_view text);

// Text from elsewhere, such as the path of a client's socket, with what could command a terminal
// written as `\x1b`.
std::string printable(std::string_view text);

}  // namespace weir::ctl
