#pragma once

#include <string_view>
#include <vector>

#include "weir/config/describe.h"
#include "weir/config/plan.h"

namespace weir::config {

// What differs between two descriptions of one item: of the process, or of what has the same name.
struct Changes {
  std::vector<KeyChange> keys;
  std::vector<Refusal> refusals;
  bool rebinds = false;  // one of the keys is of the class `listener rebound`
};

// Compares the keys of the table at `level` (`pools[]`, empty for the process); lists of items
// within it are left to the caller. `path` is where the item stands in the new file, with its dot:
// `pools[2].`.
Changes changes_between(const Description& now, const Description& next, std::string_view level,
                        std::string_view path);

// Adds to `keys` that the backends on both sides stand in another order, which `balance: first`
// goes by. The lists are those of one pool.
void add_order(const Description& now, const Description& next, std::vector<KeyChange>& keys);

}  // namespace weir::config
