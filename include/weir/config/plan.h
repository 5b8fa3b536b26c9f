#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/config/configuration.h"

namespace weir::config {

enum class PlanKind : std::uint8_t { process, listener, pool, backend };

// What a reload does with one item of the configuration.
enum class PlanAction : std::uint8_t {
  kept,     // nothing about it changes
  retuned,  // other values from now on; all state is kept
  rebound,  // a listener's addresses change
  reset,    // a backend's name stands for another address: a new one, and the old one drains
  added,
  drained,  // gone from the configuration; what runs on it runs on
};

struct KeyChange {
  std::string key;  // below its item: `timeouts.connect`
  std::string from;
  std::string to;
};

struct PlanItem {
  PlanKind kind = PlanKind::process;
  std::string name;  // `orders`; of a backend `orders/pg-a`
  PlanAction action = PlanAction::kept;
  std::vector<KeyChange> keys;
};

// A change that a reload cannot make.
struct Refusal {
  std::string path;  // `workers`
  std::string message;
};

struct Plan {
  std::vector<PlanItem> items;
  std::vector<Refusal> refusals;
};

}  // namespace weir::config
