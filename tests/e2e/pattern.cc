#include "tests/e2e/pattern.h"

namespace weir::e2e {
namespace {

// splitmix64: eight bytes of the pattern from their number.
std::uint64_t word(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t value = seed * 0x9e3779b97f4a7c15U + number;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace

void Pattern::peek(std::span<char> into) const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const std::uint64_t position = position_ + i;
    if (i == 0 || position % 8 == 0) bytes = word(seed_, position / 8) >> (8 * (position % 8));
    into[i] = static_cast<char>(bytes);
    bytes >>= 8;
  }
}

std::size_t Pattern::match(std::span<const char> bytes) {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || position_ % 8 == 0) {
      expected = word(seed_, position_ / 8) >> (8 * (position_ % 8));
    }
    if (bytes[i] != static_cast<char>(expected)) return i;
    expected >>= 8;
    ++position_;
  }
  return bytes.size();
}

}  // namespace weir::e2e
