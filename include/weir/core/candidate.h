#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::core {

// A backend of the tier that a balancer is made for.
struct Member {
  std::string identity;  // "name address": the same on every instance with this configuration
  std::uint32_t weight;  // 0 takes no new sessions
};

// One backend that may be chosen now.
struct Candidate {
  std::size_t index;     // its place among the balancer's members
  std::uint32_t weight;  // never 0
  std::uint32_t active;  // sessions and dials together
};

// Whether `a` carries less than `b` for its weight: active / weight, without dividing.
constexpr bool less_loaded(const Candidate& a, const Candidate& b) {
  return std::uint64_t{a.active} * b.weight < std::uint64_t{b.active} * a.weight;
}

}  // namespace weir::core
