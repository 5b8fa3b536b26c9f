#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/core/histogram.h"

namespace weir::admin {

// Text in the format of Prometheus, version 0.0.4, family by family. Samples with the same labels
// become one with their sum: of two backends of one name, of which one is leaving, for instance.
class Exposition {
 public:
  static constexpr std::string_view kType = "text/plain; version=0.0.4; charset=utf-8";

  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  enum class Type : std::uint8_t { counter, gauge, histogram };

  // Begins a family; all its samples follow.
  void family(std::string_view name, Type type, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  // All series of one histogram, in seconds; of a family of that type.
  void histogram(std::string_view pool, const core::HistogramCounts& counts);

  std::string text() &&;

 private:
  void write_samples();

  std::string text_;
  std::string name_;
  std::vector<std::pair<std::string, std::uint64_t>> samples_;  // by labels, in order
  std::map<std::string, std::size_t> places_;
};

}  // namespace weir::admin
