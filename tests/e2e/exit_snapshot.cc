#include <nlohmann/json.hpp>

#include "tests/e2e/program.h"

namespace weir::e2e {

admin::Snapshot exit_snapshot(const std::string& errors, At at) {
  const auto begin = errors.find(R"({"event":"exit_snapshot")");
  if (begin == std::string::npos) {
    throw ScriptFailure("no exit snapshot in\n" + errors, at);
  }
  const std::string line = errors.substr(begin, errors.find('\n', begin) - begin);
  try {
    return admin::Snapshot::from_json(nlohmann::json::parse(line).at("snapshot").dump());
  } catch (const std::exception& error) {
    throw ScriptFailure(std::string(error.what()) + " in " + line, at);
  }
}

}  // namespace weir::e2e
