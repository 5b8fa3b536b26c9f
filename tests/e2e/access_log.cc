#include "tests/e2e/access_log.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/net/tiny_json.h"

namespace weir::e2e {
namespace {

std::string text(const Json& line, const char* key) {
  const Json& value = line[key];
  if (value.kind != Json::Kind::text) throw std::runtime_error(std::string(key) + " is no text");
  return value.text;
}

std::string optional_text(const Json& line, const char* key) {
  return line.has(key) ? text(line, key) : "";
}

std::optional<double> optional_number(const Json& line, const char* key) {
  if (!line.has(key)) return std::nullopt;
  return line[key].number();
}

LogEntry entry(const Json& line) {
  if (text(line, "ts").empty()) throw std::runtime_error("`ts` is empty");
  if (text(line, "peer") != text(line, "client")) throw std::runtime_error("`peer` differs");
  LogEntry read;
  read.session = line["session"].count();
  read.listener = text(line, "listener");
  read.client = text(line, "client");
  read.pool = text(line, "pool");
  read.backend = optional_text(line, "backend");
  read.address = optional_text(line, "address");
  for (const Json& attempt : line["attempts"].items) {
    read.attempts.push_back({text(attempt, "backend"), text(attempt, "address"),
                             text(attempt, "outcome"), attempt["ms"].number()});
  }
  read.connect_ms = optional_number(line, "connect_ms");
  read.first_byte_ms = optional_number(line, "first_byte_ms");
  read.queue_ms = line["queue_ms"].number();
  read.duration_ms = line["duration_ms"].number();
  read.bytes_in = line["bytes_in"].count();
  read.bytes_out = line["bytes_out"].count();
  read.closed_by = text(line, "closed_by");
  read.reason = text(line, "reason");
  return read;
}

}  // namespace

std::vector<LogEntry> read_access_log(const std::string& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  std::vector<LogEntry> entries;
  // A line without its '\n' is still being written.
  for (std::string line; std::getline(text, line) && !text.eof();) {
    try {
      entries.push_back(entry(JsonReader::read(line)));
    } catch (const std::exception& error) {
      throw std::runtime_error("access log: " + std::string(error.what()) + " in " + line);
    }
  }
  return entries;
}

}  // namespace weir::e2e
