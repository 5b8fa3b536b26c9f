#include "config/environment.h"

#include <fmt/format.h>

#include "config/text_guard.h"

namespace weir::config {
namespace {

constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

bool is_variable_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kNameCharacters) == std::string_view::npos &&
         (text[0] < '0' || text[0] > '9');
}

// One `NAME` or `NAME:-default`, what stands between the braces.
Substituted value_of(std::string_view inside, const Environment& environment) {
  const std::size_t colon = inside.find(":-");
  const bool has_default = colon != std::string_view::npos;
  const std::string_view name = inside.substr(0, colon);
  if (inside.find("${") != std::string_view::npos) {
    return {"", "${...} inside ${...} (a default is plain text)"};
  }
  if (!is_variable_name(name)) {
    return {"",
            fmt::format("\"${{{}}}\" is not a variable (${{NAME}} or ${{NAME:-default}})", inside)};
  }
  const std::optional<std::string> value = environment(name);
  if (has_default && (!value || value->empty())) return {std::string(inside.substr(colon + 2)), ""};
  if (!value) {
    return {"", fmt::format("the environment has no {} (set it, or write ${{{}:-default}})", name,
                            name)};
  }
  if (clean_prefix(*value) != value->size()) {
    return {"", fmt::format("the value of {} is not clean text (UTF-8 without control characters)",
                            name)};
  }
  return {*value, ""};
}

}  // namespace

Substituted substitute(std::string_view text, const Environment& environment) {
  Substituted result;
  while (true) {
    const std::size_t start = text.find("${");
    result.text += text.substr(0, start);
    if (start == std::string_view::npos) return result;
    const std::size_t end = text.find('}', start);
    if (end == std::string_view::npos) {
      return {"", "a ${ without its } (${NAME} or ${NAME:-default})"};
    }
    const Substituted value = value_of(text.substr(start + 2, end - start - 2), environment);
    if (!value.error.empty()) return value;
    result.text += value.text;
    text.remove_prefix(end + 1);
  }
}

}  // namespace weir::config
