#include "ctl/rates.h"

#include "ctl/cells.h"

namespace weir::ctl {

Rates::Totals totals_of(const Sample& sample) {
  Rates::Totals totals;
  for (const Json& one : list(sample.listeners, "listeners")) {
    const std::string name = "listener/" + word(field(one, "name"));
    totals[name + "/accepted"] = whole(field(one, "accepted"));
    totals[name + "/bytes_in"] = whole(field(one, "bytes_in"));
    totals[name + "/bytes_out"] = whole(field(one, "bytes_out"));
  }
  for (const Json& pool : list(sample.pools, "pools")) {
    const std::string name = "pool/" + word(field(pool, "name"));
    totals[name + "/rejected"] = sum(field(field(pool, "admission"), "rejected"));
    for (const Json& backend : list(pool, "backends")) {
      // Another address is another backend, whose totals begin at 0.
      const std::string id =
          name + "/" + word(field(backend, "name")) + "/" + word(field(backend, "address"));
      totals[id + "/dials"] = whole(field(field(backend, "totals"), "dials"));
      totals[id + "/failures"] = failures_of(backend);
    }
  }
  return totals;
}

Rates::Rates(const Sample& before, const Sample& after) {
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  if (seconds <= 0 || field(before.status, "pid") != field(after.status, "pid")) return;
  const Totals old = totals_of(before);
  for (const auto& [name, total] : totals_of(after)) {
    const auto found = old.find(name);
    if (found == old.end() || found->second > total) continue;
    rates_[name] = static_cast<double>(total - found->second) / seconds;
  }
}

std::optional<double> Rates::of(const std::string& name) const {
  const auto found = rates_.find(name);
  if (found == rates_.end()) return std::nullopt;
  return found->second;
}

}  // namespace weir::ctl
