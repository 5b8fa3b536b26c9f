#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/core/cidr.h"
#include "weir/core/endpoint.h"
#include "weir/core/source_limits.h"

namespace weir::proxy {

// One entry of `listeners`. Plain values, validated by the config layer.
struct ListenerOptions {
  std::string name;
  std::vector<core::Endpoint> bind;   // at least one; no names; `[::]` is dual stack
  std::uint64_t max_connections = 0;  // 0 = bounded only by the process
  core::AccessList access;            // of addresses; who comes through a unix socket has none
  core::SourceBounds per_source;      // likewise
  std::string pool;                   // name of an existing pool
  bool operator==(const ListenerOptions&) const = default;
};

}  // namespace weir::proxy
