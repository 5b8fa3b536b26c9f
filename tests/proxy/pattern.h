#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "weir/core/random.h"

namespace weir::proxy {

// Bytes that repeat nowhere, so that a lost, doubled or swapped one shows.
inline std::string pattern(std::size_t size, std::uint64_t seed = 1) {
  core::Rng rng(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(rng.next() & 0xff);
  return text;
}

}  // namespace weir::proxy
