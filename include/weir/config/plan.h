#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/config/configuration.h"

namespace weir::config {

enum class PlanKind { process, listener, pool, backend };

// What a reload does with one part of the configuration.
enum class PlanAction {
  kept,     // nothing changed
  retuned,  // new sessions follow the new values; sockets, counters, queue and circuit are kept
  rebound,  // a listener: some of its addresses are opened or closed, the others stay open
  reset,    // a backend: its name means another address now. The old one drains, the new one is new
  added,
  resumed,  // comes back, or means that address again, while what it was lives on: the same again,
            // with its counters, circuits and orders. Only who knows what lives can tell: plan()
            // says `added` or `reset`
  drained,  // not in the file any more: takes nothing new, its sessions run on
};

// Both sides as they are written in a file; empty where there is nothing, as without `health`.
//
// For `bind` one for each address: `to` is empty for one that is closed, `from` for one that is
// opened. `[::]` is closed and opened where a `0.0.0.0` of its port comes or goes beside it, since
// a socket cannot be told later whether it takes IPv4 too. For `backends` the names in their order,
// when those that stay change places.
struct KeyChange {
  std::string key;  // below the item: `timeouts.connect`
  std::string from;
  std::string to;
  bool operator==(const KeyChange&) const = default;
};

struct PlanItem {
  PlanKind kind = PlanKind::process;
  std::string name;  // `orders`, of a backend `orders/pg-a`, of the process empty
  PlanAction action = PlanAction::kept;
  std::vector<KeyChange> keys;  // in the order of the documentation; empty for added, drained
  bool operator==(const PlanItem&) const = default;
};

// A change that no reload can carry out.
struct Refusal {
  std::string path;     // `admin.socket`
  std::string message;  // names the way that can, and both values
  bool operator==(const Refusal&) const = default;
};

struct Plan {
  // The process; the listeners and the pools, each followed by its backends, as in the new file;
  // then what is drained, as in the old one. Each listener, pool and backend of either side is in
  // exactly one item.
  std::vector<PlanItem> items;
  std::vector<Refusal> refusals;  // with one of them, nothing of the plan is carried out
};

// What a reload from `now` to `next` does. Listeners and pools are the same by their name, backends
// by pool, name and address. A pool whose backends alone have changed is kept itself. Values are
// compared as they are written: `auto` is not the number that it stands for.
Plan plan(const Configuration& now, const Configuration& next);

// The words of the admin API.
std::string_view text(PlanKind kind);
std::string_view text(PlanAction action);

// One line for the log: `pool orders: retuned: timeouts.connect: 5s -> 3s`.
std::string text(const PlanItem& item);

}  // namespace weir::config
