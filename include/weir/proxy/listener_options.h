#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/core/endpoint.h"

namespace weir::proxy {

// One entry of `listeners`. Plain values, validated by the config layer.
struct ListenerOptions {
  std::string name;
  std::vector<core::Endpoint> bind;   // at least one; no names; `[::]` is dual stack
  std::uint64_t max_connections = 0;  // 0 = bounded only by the process
  std::string pool;                   // name of an existing pool
  bool operator==(const ListenerOptions&) const = default;
};

}  // namespace weir::proxy
