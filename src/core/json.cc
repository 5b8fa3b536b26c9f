#include "weir/core/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weir::core {
namespace {

bool plain(char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

void append_json(std::string& to, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), plain)) {
    to += text;
    return;
  }
  for (const char c : text) {
    if (plain(c)) {
      to += c;
    } else if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}",
                     static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
}

std::string json_escaped(std::string_view text) {
  std::string result;
  append_json(result, text);
  return result;
}

}  // namespace weir::core
