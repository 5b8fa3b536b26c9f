#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "weir/config/load.h"

// What the tests of this layer share: files as text, and an environment of their own.
namespace weir::config {

using Variables = std::map<std::string, std::string, std::less<>>;

inline LoadResult load_all_said(const std::string& text, const Variables& variables = {}) {
  return load(text, "/etc/weir", [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

// Without the warning about a pool of one backend, which the short files of most tests deserve.
inline LoadResult load_text(const std::string& text, const Variables& variables = {}) {
  LoadResult result = load_all_said(text, variables);
  std::erase_if(result.problems, [](const Problem& problem) {
    return problem.warning && problem.message.starts_with("1 in a pool of one");
  });
  return result;
}

inline std::string all_problems(const LoadResult& result) {
  std::string lines;
  for (const Problem& problem : result.problems) lines += problem.text("weir.yaml") + "\n";
  return lines;
}

// The configuration of a file that must be right.
inline Configuration must_load(const std::string& text, const Variables& variables = {}) {
  LoadResult result = load_text(text, variables);
  REQUIRE_MESSAGE(result.configuration.has_value(), all_problems(result));
  CHECK_MESSAGE(result.problems.empty(), all_problems(result));
  return *result.configuration;
}

inline std::string read_source_file(const std::string& name) {
  std::ifstream stream(std::string(WEIR_SOURCE_DIR) + "/" + name);
  REQUIRE_MESSAGE(stream.good(), name);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The smallest file with `pool` added to its pool and `listener` to its listener.
inline std::string small_file(const std::string& pool = "", const std::string& listener = "") {
  return "listeners:\n"
         "  - name: l\n"
         "    bind: [\"127.0.0.1:1\"]\n"
         "    pool: p\n" +
         (listener.empty() ? "" : "    " + listener + "\n") +
         "pools:\n"
         "  - name: p\n"
         "    backends: [{name: b, address: \"127.0.0.1:2\"}]\n" +
         (pool.empty() ? "" : "    " + pool + "\n");
}

}  // namespace weir::config
