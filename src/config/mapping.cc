#include "config/mapping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <map>

#include "config/scalars.h"

namespace weir::config {
namespace {

// The two ends of `1ms..5m`.
std::pair<std::string_view, std::string_view> range(const Key& key) {
  const std::size_t dots = key.allowed.find("..");
  assert(dots != std::string_view::npos);
  return {key.allowed.substr(0, dots), key.allowed.substr(dots + 2)};
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string join(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

}  // namespace

Mapping::Mapping(Source& source, const Node* node, std::string path, std::string level)
    : source_(source), path_(std::move(path)), level_(std::move(level)) {
  if (!node) return;
  present_ = true;
  at_ = node->at;
  valid_ = source_.expect(*node, Node::Kind::mapping, path_,
                          fmt::format("{}", fmt::join(names_below(level_), ", ")));
  if (valid_) take_keys(*node);
}

void Mapping::take_keys(const Node& node) {
  const std::vector<std::string_view> allowed = names_below(level_);
  std::map<std::string_view, Position> seen;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const Node& name = node.children[i];
    if (name.kind == Node::Kind::alias) continue;
    if (name.kind != Node::Kind::scalar) {
      source_.error(name.at, path_,
                    "a key that is not a word (allowed here: keys such as " +
                        std::string(allowed.front()) + ")");
      continue;
    }
    const auto [first, is_new] = seen.emplace(name.text, name.at);
    if (!is_new) {
      source_.error(
          name.at, path_of(name.text),
          fmt::format("given twice, first on line {} (each key once)", first->second.line));
    } else if (name.plain && name.text == "<<") {
      source_.error(name.at, path_of(name.text),
                    "a merge key (anchors and aliases are not accepted: write the values out)");
    } else if (std::find(allowed.begin(), allowed.end(), name.text) == allowed.end()) {
      source_.error(name.at, path_of(name.text), unknown_key(name.text, level_));
    } else {
      values_.emplace_back(name.text, &node.children[i + 1]);
    }
  }
}

std::string Mapping::path_of(std::string_view name) const {
  constexpr std::size_t kLongest = 64;  // longer ones are nobody's key
  return join(path_, name.substr(0, kLongest));
}

std::string Mapping::level_of(std::string_view name) const { return join(level_, name); }

const Node* Mapping::find(std::string_view name) const {
  for (const auto& [written, value] : values_) {
    if (written == name) return value;
  }
  return nullptr;
}

const Key& Mapping::key(std::string_view name) const {
  const Key* found = find_key(level_of(name));
  assert(found);
  return *found;
}

void Mapping::missing(std::string_view name, std::string_view allowed) const {
  source_.error(at_, path_of(name), fmt::format("missing (allowed: {})", allowed));
}

Mapping Mapping::child(std::string_view name) const {
  return Mapping(source_, find(name), path_of(name), level_of(name));
}

std::vector<Mapping::Item> Mapping::items(std::string_view name, std::string_view what) const {
  const Node* list = find(name);
  if (!list) {
    if (valid_) missing(name, what);
    return {};
  }
  if (list->kind == Node::Kind::sequence && list->children.empty()) {
    source_.error(list->at, path_of(name), fmt::format("an empty list (allowed: {})", what));
  }
  return items_of(*list, name, what);
}

std::vector<Mapping::Item> Mapping::optional_items(std::string_view name,
                                                   std::string_view what) const {
  const Node* list = find(name);
  return list ? items_of(*list, name, what) : std::vector<Item>();
}

std::vector<Mapping::Item> Mapping::items_of(const Node& list, std::string_view name,
                                             std::string_view what) const {
  std::vector<Item> items;
  const std::string path = path_of(name);
  if (!source_.expect(list, Node::Kind::sequence, path, what)) return items;
  for (std::size_t i = 0; i < list.children.size(); ++i) {
    items.push_back({&list.children[i], fmt::format("{}[{}]", path, i)});
  }
  return items;
}

std::optional<Scalar> Mapping::scalar(std::string_view name) const {
  const Node* value = find(name);
  if (!value) return std::nullopt;
  return source_.scalar(*value, path_of(name), key(name));
}

std::optional<Scalar> Mapping::required_scalar(std::string_view name) const {
  if (!find(name) && valid_) missing(name, key(name).allowed);
  return scalar(name);
}

Outcome Mapping::duration(std::string_view name, core::Duration& value) const {
  if (!find(name)) return Outcome::absent;
  const std::optional<Scalar> written = scalar(name);
  if (!written) return Outcome::wrong;
  const std::optional<core::Duration> read = parse_duration(written->text);
  if (!read) {
    source_.wrong(*written, key(name),
                  is_digits(written->text) ? "is a number without a unit: ms, s, m or h"
                                           : "is not a duration such as 250ms, 10s, 5m or 1h");
    return Outcome::wrong;
  }
  const auto [least, most] = range(key(name));
  if (*read < *parse_duration(least) || *read > *parse_duration(most)) {
    source_.wrong(*written, key(name), "is out of range");
    return Outcome::wrong;
  }
  if (key(name).type == Type::seconds && *read % std::chrono::seconds(1) != core::Duration(0)) {
    source_.wrong(*written, key(name), "is not in whole seconds");
    return Outcome::wrong;
  }
  value = *read;
  return Outcome::read;
}

Outcome Mapping::boolean(std::string_view name, bool& value) const {
  if (!find(name)) return Outcome::absent;
  const std::optional<Scalar> written = scalar(name);
  if (!written) return Outcome::wrong;
  const std::optional<bool> read = parse_boolean(written->text);
  if (!read) {
    source_.wrong(*written, key(name), "is not a boolean");
    return Outcome::wrong;
  }
  value = *read;
  return Outcome::read;
}

template <typename Value>
Outcome Mapping::number(std::string_view name, std::optional<Value> (*parse)(std::string_view),
                        std::string_view otherwise, Value& value) const {
  if (!find(name)) return Outcome::absent;
  const std::optional<Scalar> written = scalar(name);
  if (!written) return Outcome::wrong;
  const std::optional<Value> read = parse(written->text);
  if (!read) {
    source_.wrong(*written, key(name), otherwise);
    return Outcome::wrong;
  }
  const auto [least, most] = range(key(name));
  if (*read < *parse(least) || *read > *parse(most)) {
    source_.wrong(*written, key(name), "is out of range");
    return Outcome::wrong;
  }
  value = *read;
  return Outcome::read;
}

Outcome Mapping::fraction(std::string_view name, double& value) const {
  return number(name, parse_fraction, "is not a fraction such as 0.25, with up to four decimals",
                value);
}

Outcome Mapping::read_integer(std::string_view name, std::uint64_t& value) const {
  return number(name, parse_integer, "is not a whole number in decimal digits", value);
}

}  // namespace weir::config
