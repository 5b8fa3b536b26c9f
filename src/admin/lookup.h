#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/admin/snapshot.h"

// Finding what a request names. What is not there is an ApiError that says what is.
namespace weir::admin {

const Snapshot::Pool& find_pool(const Snapshot& snapshot, const std::string& name);
// Of two of one name, one of which is leaving, the other one.
const Snapshot::Backend& find_backend(const Snapshot::Pool& pool, const std::string& name);
const Snapshot::Listener& find_listener(const Snapshot& snapshot, const std::string& name);

struct BackendPath {
  std::string pool;  // empty: in any pool
  std::string backend;
};
// `P/B`, or `B` alone.
BackendPath parse_backend_path(const std::string& text);

// A decimal number within the bounds, or a 400 about `what`.
std::uint64_t parse_number(std::string_view what, std::string_view text, std::uint64_t least,
                           std::uint64_t most);

}  // namespace weir::admin
