#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::e2e {

// One line of the access log, read as an operator's tools would read it.
struct LogEntry {
  struct Attempt {
    std::string backend;
    std::string address;
    std::string outcome;
    double ms = 0;
  };

  std::uint64_t session = 0;
  std::string listener;
  std::string client;
  std::string pool;
  std::string backend;  // empty when none was dialled
  std::string address;  // likewise
  std::vector<Attempt> attempts;
  double queue_ms = 0;
  std::optional<double> connect_ms;     // absent when no dial succeeded
  std::optional<double> first_byte_ms;  // absent when no byte of the backend was passed on
  double duration_ms = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::string closed_by;
  std::string reason;
};

// The whole lines of a log so far, in the order of the file. Throws when one of them is not a JSON
// object or lacks a field that every line has.
std::vector<LogEntry> read_access_log(const std::string& file);

}  // namespace weir::e2e
