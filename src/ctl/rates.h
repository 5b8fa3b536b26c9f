#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ctl/fields.h"
#include "ctl/shell.h"

namespace weir::ctl {

// What weir said at one moment; null where it said nothing.
struct Sample {
  SteadyTime at{};
  Json status = {};
  Json listeners = {};
  Json pools = {};
};

// How fast a total grew between two samples. Pure.
class Rates {
 public:
  // Of totals by name: `listener/orders/accepted`.
  using Totals = std::map<std::string, std::uint64_t, std::less<>>;

  Rates() = default;
  Rates(const Sample& before, const Sample& after);

  // A second. Nothing when there were no two samples of the same weir, or the total was not in
  // both, or has shrunk: then it is another thing of that name.
  std::optional<double> of(const std::string& name) const;

 private:
  std::map<std::string, double, std::less<>> rates_;
};

// The totals in a sample that the live screen shows rates of.
Rates::Totals totals_of(const Sample& sample);

}  // namespace weir::ctl
