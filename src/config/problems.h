#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"
#include "weir/config/load.h"

namespace weir::config {

// Collects what is wrong with one file.
class Problems {
 public:
  // Nobody reads further than this, and a hostile file of 4 MiB could hold a million.
  static constexpr std::size_t kMost = 1000;

  void error(Position at, std::string path, std::string message);
  void warning(Position at, std::string path, std::string message);

  // Forgets the others: after this one they would only be its consequences.
  void only_error(Position at, std::string path, std::string message);

  bool any_error() const { return errors_; }

  // All of them in the order of the file. Leaves this empty.
  std::vector<Problem> take();

 private:
  void add(Position at, std::string path, std::string message, bool warning);

  std::vector<Problem> problems_;
  bool errors_ = false;
  bool more_ = false;
};

// A piece of the file for use in a message: in double quotes, and shortened when long.
std::string in_quotes(std::string_view text);

}  // namespace weir::config
