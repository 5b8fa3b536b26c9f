#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/choices.h"
#include "config/source.h"
#include "weir/core/time.h"

namespace weir::config {

// Whether a key was there and what came of it. What is wrong has been reported.
enum class Outcome { absent, wrong, read };

// One mapping of the file, read against the keys that the table allows at its level. Borrows the
// source and the tree. A value that is absent or wrong leaves the caller's variable, and with it
// the default, untouched.
class Mapping {
 public:
  struct Item {
    const Node* node;
    std::string path;
  };

  // Reports keys that are unknown or repeated. A null `node` is a mapping without keys.
  // `level` is the table's name for the place: `pools[]` for `pools[3]`.
  Mapping(Source& source, const Node* node, std::string path, std::string level);

  // False when something else than a mapping is written here, which has been reported.
  bool valid() const { return valid_; }
  bool present() const { return present_; }
  Position at() const { return at_; }
  const std::string& path() const { return path_; }

  Mapping child(std::string_view name) const;

  // The items of a list that must not be empty; `what` completes the message "needs at least one".
  std::vector<Item> items(std::string_view name, std::string_view what) const;
  // Those of a list that may be empty or left out.
  std::vector<Item> optional_items(std::string_view name, std::string_view what) const;

  std::optional<Scalar> scalar(std::string_view name) const;
  std::optional<Scalar> required_scalar(std::string_view name) const;

  Outcome duration(std::string_view name, core::Duration& value) const;
  Outcome boolean(std::string_view name, bool& value) const;
  Outcome fraction(std::string_view name, double& value) const;

  template <typename Integer>
  Outcome integer(std::string_view name, Integer& value) const {
    std::uint64_t read = 0;
    const Outcome outcome = read_integer(name, read);
    if (outcome == Outcome::read) value = static_cast<Integer>(read);  // the table bounds it
    return outcome;
  }

  template <typename Enum, std::size_t N>
  Outcome choice(std::string_view name, Enum& value, const Choices<Enum, N>& choices) const {
    if (!find(name)) return Outcome::absent;
    const std::optional<Scalar> written = scalar(name);
    if (!written) return Outcome::wrong;
    for (const auto& [word, meaning] : choices) {
      if (word != written->text) continue;
      value = meaning;
      return Outcome::read;
    }
    source_.wrong(*written, key(name), "is not one of the choices");
    return Outcome::wrong;
  }

  // The row of the table. It is a mistake of this program to ask for a key that is not there.
  const Key& key(std::string_view name) const;
  const Node* find(std::string_view name) const;
  std::string path_of(std::string_view name) const;

 private:
  std::vector<Item> items_of(const Node& list, std::string_view name, std::string_view what) const;
  void missing(std::string_view name, std::string_view allowed) const;
  void take_keys(const Node& node);
  std::string level_of(std::string_view name) const;
  Outcome read_integer(std::string_view name, std::uint64_t& value) const;
  // A number within its range; `otherwise` is said of what cannot be parsed.
  template <typename Value>
  Outcome number(std::string_view name, std::optional<Value> (*parse)(std::string_view),
                 std::string_view otherwise, Value& value) const;

  Source& source_;
  std::string path_;
  std::string level_;
  Position at_;
  bool valid_ = true;
  bool present_ = false;
  std::vector<std::pair<std::string_view, const Node*>> values_;
};

}  // namespace weir::config
