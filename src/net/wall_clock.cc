#include "weir/net/wall_clock.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <iterator>

namespace weir::net {

void WallClock::append_now(std::string& to) {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
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
