#pragma once

namespace weir::net {

enum class LogLevel { debug, info, warning, error };
enum class LogFormat { text, json };

// The leveled log, which goes to stderr.
struct LogOptions {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  bool operator==(const LogOptions&) const = default;
};

}  // namespace weir::net
