#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::core {

// A set of small numbers, such as places in a pool. Allocates only for numbers from 64 on: most
// pools are smaller, and every connection owns one.
class IndexSet {
 public:
  bool contains(std::size_t index) const {
    const std::size_t word = index / kBits;
    if (word == 0) return (low_ & bit(index)) != 0;
    return word <= high_.size() && (high_[word - 1] & bit(index)) != 0;
  }

  void insert(std::size_t index) {
    const std::size_t word = index / kBits;
    if (word > high_.size()) high_.resize(word);
    (word == 0 ? low_ : high_[word - 1]) |= bit(index);
  }

  void clear() {
    low_ = 0;
    high_.clear();
  }

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::uint64_t bit(std::size_t index) {
    return std::uint64_t{1} << (index % kBits);
  }

  std::uint64_t low_ = 0;
  std::vector<std::uint64_t> high_;
};

}  // namespace weir::core
