#include <algorithm>
#include <array>
#include <vector>

#include "weir/admin/snapshot.h"

namespace weir::admin {
namespace {

template <std::size_t size>
void add_up(std::array<std::uint64_t, size>& sum, const std::array<std::uint64_t, size>& other) {
  for (std::size_t i = 0; i < size; ++i) sum[i] += other[i];
}

void add_to(Snapshot::Listener& sum, const Snapshot::Listener& other, bool with_gauges) {
  if (with_gauges) sum.connections += other.connections;
  sum.accepted += other.accepted;
  add_up(sum.accept_errors, other.accept_errors);
  add_up(sum.closed, other.closed);
  sum.bytes_in += other.bytes_in;
  sum.bytes_out += other.bytes_out;
}

void add_to(Snapshot::Backend& sum, const Snapshot::Backend& other, bool with_gauges) {
  if (with_gauges) {
    sum.active += other.active;
    sum.dialing += other.dialing;
  }
  add_up(sum.dials, other.dials);
  sum.circuit.rejects += other.circuit.rejects;
  sum.circuit.stale_results += other.circuit.stale_results;
  add_up(sum.circuit.transitions, other.circuit.transitions);
  if (sum.health && other.health) add_up(sum.health->checks, other.health->checks);
}

void add_to(Snapshot::Pool& sum, const Snapshot::Pool& other, bool with_gauges) {
  if (with_gauges) {
    sum.active += other.active;
    sum.pending += other.pending;
    sum.consistent = sum.consistent && other.consistent;
  }
  add_up(sum.rejected, other.rejected);
  add_up(sum.retries, other.retries);
  sum.retry_budget_denied += other.retry_budget_denied;
  sum.dial_times.add(other.dial_times);
  sum.queue_times.add(other.queue_times);
  sum.totals.add(other.totals);
  for (const Snapshot::Backend& each : other.backends) {
    const auto same =
        std::find_if(sum.backends.begin(), sum.backends.end(), [&each](const auto& backend) {
          return backend.name == each.name && backend.address == each.address;
        });
    if (same != sum.backends.end()) {
      add_to(*same, each, with_gauges);
    } else if (with_gauges && each.active > 0) {
      sum.backends.push_back(each);
      sum.backends.back().removed = true;
      sum.backends.back().draining = true;
      sum.backends.back().state = upstream::BackendState::draining;
    }
  }
}

template <typename Item>
Item* find(std::vector<Item>& items, const std::string& name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&name](const Item& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

void Snapshot::add(const Snapshot& other, bool with_gauges) {
  if (with_gauges) sessions += other.sessions;
  access_log_dropped += other.access_log_dropped;
  for (const Listener& each : other.listeners) {
    if (Listener* const same = find(listeners, each.name)) {
      add_to(*same, each, with_gauges);
    } else if (with_gauges && each.connections > 0) {
      listeners.push_back(each);
      listeners.back().draining = true;
    }
  }
  for (const Pool& each : other.pools) {
    if (Pool* const same = find(pools, each.name)) {
      add_to(*same, each, with_gauges);
    } else if (with_gauges && each.active > 0) {
      pools.push_back(each);
      pools.back().removed = true;
    }
  }
}

}  // namespace weir::admin
