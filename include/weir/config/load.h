#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/config/configuration.h"

namespace weir::config {

// One finding about a file. Lines and columns count from 1, columns in bytes.
struct Problem {
  int line = 0;
  int column = 0;
  std::string path;     // `pools[0].resilience.retry_attempts`; empty for the file as a whole
  std::string message;  // what is wrong, and in parentheses what is allowed
  bool warning = false;

  // `FILE:LINE:COLUMN: [warning: ]PATH: MESSAGE`, the form fixed by the contract.
  std::string text(std::string_view file) const;
};

// Looks a `${NAME}` up; nullopt = unset.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// This process's.
Environment process_environment();

struct LoadResult {
  std::optional<Configuration> configuration;  // absent exactly when there is an error
  std::vector<Problem> problems;               // in the order of the file; errors and warnings
  // Line and column of each value that the file has, by its path, for what is found out later.
  std::map<std::string, std::pair<int, int>> places;

  // An error about the value at `path`; where the file has none, about the file.
  Problem problem(std::string path, std::string message) const;
};

// Reads and validates the text of a configuration file. All errors are reported at once, except
// that a YAML syntax error is reported alone. `directory` is where relative file names start.
[[nodiscard]] LoadResult load(std::string_view text, const std::string& directory,
                              const Environment& environment);

// The same for a file on disk and this process's environment. A file that cannot be read or is
// larger than 4 MiB is one problem at line 1, column 1.
[[nodiscard]] LoadResult load_file(const std::string& file);

// Where the relative file names in such a file start, as an absolute name. Without a file: here.
std::string folder_of(const std::string& file);

}  // namespace weir::config
