#pragma once

#include <cstddef>

namespace weir::admin {

// What the servers that share it hold of answers that their clients have not read yet. Loop thread
// only.
struct Unsent {
  // Of all of them together. A listing of ten thousand sessions has some 5 MiB.
  static constexpr std::size_t kMost = 64 * 1024 * 1024;

  std::size_t bytes = 0;
};

}  // namespace weir::admin
