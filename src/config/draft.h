#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "config/source.h"
#include "weir/config/configuration.h"

namespace weir::config {

// One address of one listener or of the process itself, and where it is written.
struct BoundAddress {
  static constexpr auto kProcess = static_cast<std::size_t>(-1);  // instead of a listener

  core::Endpoint endpoint;
  std::size_t listener = 0;  // its index, or kProcess
  Position at;
  std::string path;
};

// The configuration as far as it is read, with what is needed to check it as a whole.
struct Draft {
  Configuration configuration;
  std::vector<BoundAddress> bound;  // by the listeners
  std::vector<BoundAddress> own;    // `admin.socket` and `http.listen`
  std::vector<Scalar> pool_references;
};

// The names of one list, to find a second use.
using Names = std::map<std::string, Scalar>;

}  // namespace weir::config
