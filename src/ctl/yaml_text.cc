#include "ctl/yaml_text.h"

#include <algorithm>
#include <array>

namespace weir::ctl {
namespace {

// Whether YAML reads `text` as this text when it is written without quotes. Says no when in doubt.
bool plain(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::array<std::string_view, 7> words{"null", "true", "false", "yes",
                                                  "no",   "on",   "off"};
  const bool unit = text.size() > 1 && std::string_view("0123456789").find(text[0]) < 10 &&
                    text.find_first_not_of("0123456789") < text.size() &&
                    text.find_first_not_of("0123456789smhKMGiB") == std::string_view::npos;
  if (unit) return true;  // `30s`, `64KiB`
  if (text.size() < 2 || letters.find(text[0]) == std::string_view::npos) return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  if (std::find(words.begin(), words.end(), lower) != words.end()) return false;
  return text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/.") ==
         std::string_view::npos;
}

// JSON's strings are YAML's, and escape what could command a terminal.
std::string scalar(const Json& value) {
  if (value.is_object() || value.is_array()) return value.is_object() ? "{}" : "[]";
  if (value.is_string() && plain(value.get_ref<const std::string&>())) return value;
  return value.dump(-1, ' ', true);
}

void write(std::vector<Line>& lines, const Json& value, const std::string& indent,
           const std::string& lead);

bool nests(const Json& value) { return (value.is_object() || value.is_array()) && !value.empty(); }

// `lead` is what stands on the line already: the indent, and `- ` of a list's element.
void write_entry(std::vector<Line>& lines, const std::string& key, const Json& value,
                 const std::string& indent, const std::string& lead) {
  const std::string name = scalar(Json(key));
  if (!nests(value)) {
    lines.push_back({{lead + name + ": " + scalar(value)}});
    return;
  }
  lines.push_back({{lead + name + ":"}});
  write(lines, value, indent + "  ", indent + "  ");
}

void write(std::vector<Line>& lines, const Json& value, const std::string& indent,
           const std::string& lead) {
  std::string first = lead;
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      write_entry(lines, key, child, indent, std::exchange(first, indent));
    }
    return;
  }
  for (const Json& child : value) {
    const std::string item = std::exchange(first, indent) + "- ";
    if (nests(child)) {
      write(lines, child, indent + "  ", item);
    } else {
      lines.push_back({{item + scalar(child)}});
    }
  }
}

}  // namespace

std::vector<Line> yaml_lines(const Json& value) {
  std::vector<Line> lines;
  if (nests(value)) {
    write(lines, value, "", "");
  } else {
    lines.push_back({{scalar(value)}});
  }
  return lines;
}

}  // namespace weir::ctl
