#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "config/scalars.h"
#include "weir/config/describe.h"

namespace weir::config {

// Builds one mapping, member by member.
class DescriptionBuilder {
 public:
  void text(std::string_view key, std::string_view value) {
    add(key, {Description::Kind::text, "", std::string(value), {}});
  }

  void number(std::string_view key, std::integral auto value) {
    add(key, {Description::Kind::number, "", fmt::format("{}", value), {}});
  }

  void fraction(std::string_view key, double value) {
    add(key, {Description::Kind::number, "", fraction_text(value), {}});
  }

  void boolean(std::string_view key, bool value) {
    add(key, {Description::Kind::boolean, "", value ? "true" : "false", {}});
  }

  void duration(std::string_view key, core::Duration value) { text(key, duration_text(value)); }

  void add(std::string_view key, Description value) {
    value.key = key;
    mapping_.children.push_back(std::move(value));
  }

  Description take() { return std::move(mapping_); }

 private:
  Description mapping_;
};

}  // namespace weir::config
