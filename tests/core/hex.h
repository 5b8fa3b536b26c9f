#pragma once

#include <cctype>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::core {

// The bytes of "0a 0b", spaces where they help. What stands between quotes stands for itself.
inline std::string hex(std::string_view text) {
  std::string bytes, digits;
  bool quoted = false;
  for (const char c : text) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (quoted) {
      bytes += c;
    } else if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
      if (digits.size() < 2) continue;
      bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    } else if (c != ' ') {
      throw std::invalid_argument("neither a digit nor a quote");
    }
  }
  if (quoted || !digits.empty()) throw std::invalid_argument("half of something");
  return bytes;
}

}  // namespace weir::core
