#include "config/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/environment.h"
#include "config/scalars.h"

namespace weir::config {
namespace {

std::string_view written_as(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::empty:
      return "no value";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::mapping:
      return "a mapping";
    case Node::Kind::alias:
      return "an alias";
  }
  return "";
}

}  // namespace

void Source::wrong(const Scalar& scalar, const Key& key, std::string_view what) {
  error(scalar.at, scalar.path,
        fmt::format("{} {} (allowed: {})", in_quotes(scalar.text), what, key.allowed));
}

bool Source::expect(const Node& node, Node::Kind kind, const std::string& path,
                    std::string_view allowed) {
  if (node.kind == kind) return true;
  if (node.kind == Node::Kind::alias) return false;
  if (node.kind == Node::Kind::empty) {
    error(node.at, path, fmt::format("no value (allowed: {})", allowed));
  } else {
    error(node.at, path,
          fmt::format("{} where {} belongs (allowed: {})", written_as(node.kind), written_as(kind),
                      allowed));
  }
  return false;
}

std::optional<Scalar> Source::scalar(const Node& node, std::string path, const Key& key) {
  if (!expect(node, Node::Kind::scalar, path, key.allowed)) return std::nullopt;
  places_.emplace(path, node.at);
  Substituted substituted = substitute(node.text, environment_);
  if (!substituted.error.empty()) {
    error(node.at, std::move(path), std::move(substituted.error));
    return std::nullopt;
  }
  Scalar scalar{std::move(substituted.text), node.at, std::move(path),
                node.plain && is_yaml_word(node.text)};
  // Escapes in double quotes can write what the file itself may not hold.
  if (std::any_of(scalar.text.begin(), scalar.text.end(),
                  [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
    wrong(scalar, key, "holds a control character");
    return std::nullopt;
  }
  return scalar;
}

}  // namespace weir::config
