#include "tests/e2e/access_log.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace weir::e2e {
namespace {

using nlohmann::json;

std::optional<double> optional_number(const json& line, const char* key) {
  if (!line.contains(key)) return std::nullopt;
  return line.at(key).get<double>();
}

LogEntry entry(const json& line) {
  LogEntry read;
  if (line.at("ts").get<std::string>().empty()) throw std::runtime_error("`ts` is empty");
  if (line.at("peer") != line.at("client")) throw std::runtime_error("`peer` is not `client`");
  line.at("session").get_to(read.session);
  line.at("listener").get_to(read.listener);
  line.at("client").get_to(read.client);
  line.at("pool").get_to(read.pool);
  read.backend = line.value("backend", "");
  read.address = line.value("address", "");
  for (const json& attempt : line.at("attempts")) {
    read.attempts.push_back({attempt.at("backend"), attempt.at("address"), attempt.at("outcome"),
                             attempt.at("ms").get<double>()});
  }
  read.connect_ms = optional_number(line, "connect_ms");
  read.first_byte_ms = optional_number(line, "first_byte_ms");
  line.at("duration_ms").get_to(read.duration_ms);
  line.at("bytes_in").get_to(read.bytes_in);
  line.at("bytes_out").get_to(read.bytes_out);
  line.at("closed_by").get_to(read.closed_by);
  line.at("reason").get_to(read.reason);
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
      entries.push_back(entry(json::parse(line)));
    } catch (const std::exception& error) {
      throw std::runtime_error("access log: " + std::string(error.what()) + " in " + line);
    }
  }
  return entries;
}

}  // namespace weir::e2e
