#include "weir/admin/snapshot.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "admin/json.h"

namespace weir::admin {
namespace {

template <typename Item>
const Item& find(const std::vector<Item>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&name](const Item& item) { return item.name == name; });
  if (found == items.end()) throw std::out_of_range("no " + name + " in this snapshot");
  return *found;
}

}  // namespace

std::uint64_t Snapshot::Listener::closed_total() const {
  return std::accumulate(closed.begin(), closed.end(), std::uint64_t{0});
}

const Snapshot::Listener& Snapshot::listener(const std::string& name) const {
  return find(listeners, name);
}

const Snapshot::Pool& Snapshot::pool(const std::string& name) const { return find(pools, name); }

const Snapshot::Backend& Snapshot::backend(const std::string& pool_name,
                                           const std::string& name) const {
  return find(pool(pool_name).backends, name);
}

std::string Snapshot::json() const { return written(to_json(*this)); }

}  // namespace weir::admin
