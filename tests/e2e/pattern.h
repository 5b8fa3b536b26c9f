#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::e2e {

// An endless run of bytes in which every place can be told from every other, so that bytes lost,
// doubled, swapped or of another session are found where it happens. Two patterns of one seed are
// equal.
class Pattern {
 public:
  explicit Pattern(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t position() const { return position_; }

  // The next bytes, without going on; then go on over those that were used.
  void peek(std::span<char> into) const;
  void advance(std::size_t count) { position_ += count; }

  // Compares with the next bytes and goes on over those that are equal; their count.
  std::size_t match(std::span<const char> bytes);

 private:
  std::uint64_t seed_;
  std::uint64_t position_ = 0;
};

}  // namespace weir::e2e
