#pragma once

#include <chrono>
#include <string>

// Time as the core sees it: always an argument, never read here. Whoever owns a loop or a test's
// hand-advanced clock supplies `now`.
namespace weir::core {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// "No deadline": later than any time that can be reached.
inline constexpr TimePoint kNever = TimePoint::max();

// The moment `bound` after `start`; a bound of 0 means that there is none.
constexpr TimePoint deadline(TimePoint start, Duration bound) {
  return bound == Duration::zero() ? kNever : start + bound;
}

// For people: `10 s`, `0.25 s`.
std::string seconds_text(Duration span);

}  // namespace weir::core
