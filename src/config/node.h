#pragma once

#include <string>
#include <vector>

namespace weir::config {

// A place in the file; both count from 1, columns in bytes.
struct Position {
  int line = 1;
  int column = 1;
};

// One value of the file as it is written: before `${NAME}`, types and defaults.
struct Node {
  enum class Kind {
    empty,     // nothing is written where a value belongs
    scalar,    // `null` and `~` too, with these words as their text
    sequence,  // children are the items
    mapping,   // children alternate: key, value, key, value
    alias,     // has been reported; readers pass over it in silence
  };

  Kind kind = Kind::empty;
  bool plain = false;  // a scalar without quotes, which YAML may read as something else than text
  Position at;         // an empty value stands at its key
  std::string text;
  std::vector<Node> children;
};

}  // namespace weir::config
