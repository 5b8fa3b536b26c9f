#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/config/configuration.h"

namespace weir::config {

// A configuration as a tree that mirrors its file: mappings and lists, keys in the order of the
// documentation, lists in the order of the file, and every default written out.
struct Description {
  enum class Kind {
    text,     // durations (`5s`, `250ms`), addresses, names, words
    number,   // `3`, `0.25`
    boolean,  // `true`, `false`
    list,
    mapping,
  };

  Kind kind = Kind::mapping;
  std::string key;   // in the mapping that this is part of; empty for the root and items of a list
  std::string text;  // of a text, number or boolean, as in a file but without quotes
  std::vector<Description> children;  // of a list or mapping, in order

  // The member of a mapping with this key, or null.
  const Description* find(std::string_view name) const;

  bool operator==(const Description&) const = default;
};

// Left out is only what would be an error or mean something else if it were written: `health` where
// there are no checks, and `first_byte_timeout` without `circuit_success: first_byte`.
Description describe(const Configuration& configuration);

// A file that loads as the configuration that was described, on a machine with the same interfaces
// and whatever the environment.
std::string yaml(const Description& description);

}  // namespace weir::config
