#include "weir/net/wall_clock.h"

#include <fmt/format.h>

#include <ctime>
#include <iterator>

namespace weir::net {

WallTime wall_now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

void WallClock::append(std::string& to, WallTime moment) {
  const std::int64_t ms = moment.time_since_epoch().count();
  if (const std::int64_t second = ms / 1000; second != second_) {
    second_ = second;
    const auto time = static_cast<std::time_t>(second);
    std::tm utc{};
    ::gmtime_r(&time, &utc);
    prefix_ = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.", utc.tm_year + 1900,
                          utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  }
  to += prefix_;
  fmt::format_to(std::back_inserter(to), "{:03}Z", ms % 1000);
}

}  // namespace weir::net
