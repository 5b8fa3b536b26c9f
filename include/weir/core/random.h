#pragma once

#include <cstdint>

namespace weir::core {

// SplitMix64 (Steele, Lea, Flood 2014): eight bytes of state, so that every worker and every test
// owns its own. Good enough to spread load and jitter; not for secrets. Not thread-safe.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  // Uniform in [0, bound); 0 when bound is 0. The bias of the multiplication is below 2^-32 for the
  // bounds used here (counts of backends and of bytes).
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // The finaliser alone: a bijection that scatters neighbouring inputs, also used for hashing.
  static constexpr std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
  }

 private:
  // Both compilers have it, ISO C++ does not: without the keyword -Wpedantic refuses it.
  __extension__ using Wide = unsigned __int128;

  std::uint64_t state_;
};

}  // namespace weir::core
