#pragma once

#include <vector>

#include "tests/config/loading.h"

// Files that must be refused, with where and why.
namespace weir::config {

struct BadFile {
  const char* what;
  std::string text;
  int line;
  int column;
  const char* path;
  const char* message;  // a part of it
};

// The file is refused for this one reason and no other.
inline void check_refused(const BadFile& file) {
  const std::string what = file.what;
  CAPTURE(what);
  const LoadResult result = load_text(file.text);
  CHECK_FALSE(result.configuration);
  CAPTURE(all_problems(result));
  REQUIRE(result.problems.size() == 1);
  const Problem& problem = result.problems[0];
  CHECK(problem.line == file.line);
  CHECK(problem.column == file.column);
  CHECK(problem.path == file.path);
  CHECK(problem.message.find(file.message) != std::string::npos);
  CHECK_FALSE(problem.warning);
}

inline void check_refused(const std::vector<BadFile>& files) {
  for (const BadFile& file : files) check_refused(file);
}

// A file with these lines for one pool `p`, the first of which is line 3.
inline std::string with_pool(const std::string& lines) {
  return "listeners: [{name: l, bind: [\"127.0.0.1:1\"], pool: p}]\n"
         "pools:\n" +
         lines;
}

// A file with these lines for the listeners, the first of which is line 3.
inline std::string with_listeners(const std::string& lines) {
  return "pools: [{name: p, backends: [{name: b, address: \"127.0.0.1:2\"}]}]\n"
         "listeners:\n" +
         lines;
}

}  // namespace weir::config
