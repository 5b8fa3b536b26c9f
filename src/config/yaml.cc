#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/scalars.h"
#include "weir/config/describe.h"

namespace weir::config {
namespace {

// Whether every reader of YAML takes it for this very text without quotes.
bool is_plain(std::string_view text) {
  if (parse_duration(text)) return true;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && (is_letter(text[0]) || text[0] == '/') && !is_yaml_word(text) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '.' ||
                  c == '-';
         });
}

// A `${` that is meant as such is written as a `$` and a variable whose default is `{`.
std::string in_quotes_for_yaml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '{' && quoted.back() == '$') {
      quoted += "${WEIR_LITERAL_BRACE:-{}";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string scalar(const Description& value) {
  const bool quoted = value.kind == Description::Kind::text && !is_plain(value.text);
  return quoted ? in_quotes_for_yaml(value.text) : value.text;
}

void append_mapping(std::string& to, const Description& mapping, std::size_t indent);

// A list of scalars stands on one line, of mappings below its key.
void append_list(std::string& to, const Description& list, std::size_t indent) {
  const bool mappings =
      !list.children.empty() && list.children[0].kind == Description::Kind::mapping;
  if (mappings) {
    for (const Description& item : list.children) {
      const std::size_t start = to.size();
      to += '\n';
      append_mapping(to, item, indent + 4);
      to[start + 1 + indent + 2] = '-';
    }
    return;
  }
  to += " [";
  for (const Description& item : list.children) {
    if (to.back() != '[') to += ", ";
    to += scalar(item);
  }
  to += ']';
}

// Ends without a newline, as all of these.
void append_mapping(std::string& to, const Description& mapping, std::size_t indent) {
  bool first = true;
  for (const Description& member : mapping.children) {
    if (!first) to += '\n';
    first = false;
    fmt::format_to(std::back_inserter(to), "{:{}}{}:", "", indent, member.key);
    switch (member.kind) {
      case Description::Kind::text:
      case Description::Kind::number:
      case Description::Kind::boolean:
        to += ' ';
        to += scalar(member);
        break;
      case Description::Kind::list:
        append_list(to, member, indent);
        break;
      case Description::Kind::mapping:
        to += '\n';
        append_mapping(to, member, indent + 2);
        break;
    }
  }
}

}  // namespace

std::string yaml(const Description& description) {
  std::string text;
  append_mapping(text, description, 0);
  return text + '\n';
}

}  // namespace weir::config
