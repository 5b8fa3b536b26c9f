#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "config/source.h"
#include "weir/config/configuration.h"

namespace weir::config {

// One address of one listener, and where it is written.
struct BoundAddress {
  core::Endpoint endpoint;
  std::size_t listener = 0;
  Position at;
  std::string path;
};

// The configuration as far as it is read, with what is needed to check it as a whole.
struct Draft {
  Configuration configuration;
  std::vector<BoundAddress> bound;
  std::vector<Scalar> pool_references;
};

// The names of one list, to find a second use.
using Names = std::map<std::string, Scalar>;

}  // namespace weir::config
