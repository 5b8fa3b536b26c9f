#include "config/text_guard.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::config {
namespace {

// yaml-cpp keeps some 240 bytes for every bracket of an unfinished `[[[[`, before anybody can stop
// it. Quotes and comments are not told apart here, hence a limit far above real nesting.
constexpr int kMostOpenBrackets = 1000;

unsigned byte(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Length of the UTF-8 sequence at `i`, 0 when it is invalid: overlong, a surrogate, above U+10FFFF.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const unsigned first = byte(text, i);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2   ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || text.size() - i < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(text, i + k) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(text, i + 1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return length;
}

bool is_control(std::string_view text, std::size_t i) {
  const unsigned c = byte(text, i);
  if (c == '\t' || c == '\n') return false;
  if (c == '\r') return i + 1 == text.size() || text[i + 1] != '\n';
  return c < 0x20 || c == 0x7F;
}

Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {static_cast<int>(lines) + 1, static_cast<int>(offset - start) + 1};
}

// The first tab before anything else on a line, on lines that hold more than blanks and a comment.
std::size_t indenting_tab(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const std::size_t first = line.find_first_not_of(" \t\r");
    const std::size_t tab = line.find('\t');
    if (first != std::string_view::npos && line[first] != '#' && tab < first) return start + tab;
    start = end + 1;
  }
  return std::string_view::npos;
}

std::size_t bracket_flood(std::string_view text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++open;
    if ((text[i] == ']' || text[i] == '}') && open > 0) --open;
    if (open > kMostOpenBrackets) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t clean_prefix(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0 || is_control(text, i)) return i;
    i += length;
  }
  return text.size();
}

bool guard_text(std::string_view text, Problems& problems) {
  if (text.size() > kLargestFile) {
    problems.only_error({1, 1}, "", "the file is too large (at most 4 MiB)");
    return false;
  }
  if (const std::size_t bad = clean_prefix(text); bad < text.size()) {
    const std::string what = is_control(text, bad)
                                 ? fmt::format("control character 0x{:02X}", byte(text, bad))
                                 : fmt::format("byte 0x{:02X} is not valid UTF-8", byte(text, bad));
    problems.only_error(position_of(text, bad), "", what + " (the file is UTF-8 text)");
    return false;
  }
  if (const std::size_t tab = indenting_tab(text); tab != std::string_view::npos) {
    problems.only_error(position_of(text, tab), "", "a tab in the indentation (use spaces)");
    return false;
  }
  if (const std::size_t flood = bracket_flood(text); flood != std::string_view::npos) {
    problems.only_error(position_of(text, flood), "",
                        fmt::format("too many open brackets (at most {})", kMostOpenBrackets));
    return false;
  }
  return true;
}

}  // namespace weir::config
