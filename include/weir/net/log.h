#pragma once

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <string_view>

#include "weir/net/log_options.h"

// The leveled log: for people, on stderr. Any thread. Lines pass through a bounded queue to one
// writer thread, oldest dropped first, so that a stderr nobody reads never stalls a session.
namespace weir::net {

void start_log(const LogOptions& options);
// Another level and format from now on; nothing unless it has started.
void set_log(const LogOptions& options);
// Writes what is queued and ends the writer thread. Lines after it are lost.
void stop_log();

bool log_enabled(LogLevel level);
// `about` names what the line speaks of, as an operator would: `listener orders`, `weir`.
void write_log(LogLevel level, std::string_view about, std::string_view text);
// One line as it is, without level or time: for output that is a record of its own.
void write_raw(std::string_view line);

template <typename... Args>
void log(LogLevel level, std::string_view about, fmt::format_string<Args...> format,
         Args&&... args) {
  if (log_enabled(level)) {
    write_log(level, about, fmt::format(format, std::forward<Args>(args)...));
  }
}

// Lets one line through per interval and counts what it held back. Any thread.
class LogRate {
 public:
  explicit LogRate(std::chrono::steady_clock::duration interval) : interval_(interval) {}

  // True when a line may be written now; `held_back` is how many were not since the last one.
  bool admit(std::chrono::steady_clock::time_point now, std::uint64_t& held_back);

 private:
  const std::chrono::steady_clock::duration interval_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_{};
  std::uint64_t held_back_ = 0;
};

}  // namespace weir::net
