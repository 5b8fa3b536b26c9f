#pragma once

#include <map>
#include <optional>
#include <string>

#include "config/keys.h"
#include "config/node.h"
#include "config/problems.h"
#include "weir/config/load.h"

namespace weir::config {

// What a scalar says after `${NAME}`, and where it stands, for checks that come later.
struct Scalar {
  std::string text;
  Position at;
  std::string path;
  bool yaml_word = false;  // written without quotes and readable as a boolean or null
};

// Reads single values of one file and reports what is wrong with them.
class Source {
 public:
  Source(Problems& problems, const Environment& environment)
      : problems_(problems), environment_(environment) {}

  void error(Position at, std::string path, std::string message) {
    problems_.error(at, std::move(path), std::move(message));
  }

  // An error about a value: what is wrong with it, and what `key` allows.
  void wrong(const Scalar& scalar, const Key& key, std::string_view what);

  // What may be meant but is worth a second look: the file is taken all the same.
  void warning(Position at, std::string path, std::string message) {
    problems_.warning(at, std::move(path), std::move(message));
  }

  // True when `node` is of this kind; else it has been reported. `allowed` says what is expected.
  bool expect(const Node& node, Node::Kind kind, const std::string& path, std::string_view allowed);

  std::optional<Scalar> scalar(const Node& node, std::string path, const Key& key);

  // Where each value that was read stands.
  std::map<std::string, Position> take_places() { return std::move(places_); }

 private:
  Problems& problems_;
  const Environment& environment_;
  std::map<std::string, Position> places_;
};

}  // namespace weir::config
