#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/core/counter.h"
#include "weir/core/time.h"

namespace weir::core {

// How long something took, many times over. The bounds span a dial on the same machine and a wait
// of a minute.
inline constexpr std::array<Duration, 15> kHistogramBounds = {
    std::chrono::microseconds(500), std::chrono::milliseconds(1),   std::chrono::microseconds(2500),
    std::chrono::milliseconds(5),   std::chrono::milliseconds(10),  std::chrono::milliseconds(25),
    std::chrono::milliseconds(50),  std::chrono::milliseconds(100), std::chrono::milliseconds(250),
    std::chrono::milliseconds(500), std::chrono::seconds(1),        std::chrono::milliseconds(2500),
    std::chrono::seconds(5),        std::chrono::seconds(15),       std::chrono::seconds(60)};

struct HistogramCounts {
  // Of each range by itself: up to the first bound, from there to the second, ..., above the last.
  std::array<std::uint64_t, kHistogramBounds.size() + 1> counts{};
  std::uint64_t microseconds = 0;  // in all

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) sum += count;
    return sum;
  }
  void add(const HistogramCounts& other) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    microseconds += other.microseconds;
  }
};

// Counted by one thread, as a Counter is; read by any.
class Histogram {
 public:
  void add(Duration took) {
    std::size_t range = 0;
    while (range < kHistogramBounds.size() && took > kHistogramBounds[range]) ++range;
    counts_[range].add();
    const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    microseconds_.add(whole > 0 ? static_cast<std::uint64_t>(whole) : 0);
  }
  HistogramCounts counts() const {
    HistogramCounts read;
    for (std::size_t i = 0; i < read.counts.size(); ++i) read.counts[i] = counts_[i].value();
    read.microseconds = microseconds_.value();
    return read;
  }

 private:
  std::array<Counter, kHistogramBounds.size() + 1> counts_;
  Counter microseconds_;
};

}  // namespace weir::core
