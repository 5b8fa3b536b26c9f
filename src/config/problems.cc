#include "config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::config {
namespace {

// A double-quoted key or value may hold a newline or an escape sequence; a message is one line.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return text;
}

}  // namespace

std::string Problem::text(std::string_view file) const {
  return fmt::format("{}:{}:{}: {}{}{}{}", file, line, column, warning ? "warning: " : "", path,
                     path.empty() ? "" : ": ", message);
}

void Problems::error(Position at, std::string path, std::string message) {
  errors_ = true;
  add(at, std::move(path), std::move(message), false);
}

void Problems::warning(Position at, std::string path, std::string message) {
  add(at, std::move(path), std::move(message), true);
}

void Problems::add(Position at, std::string path, std::string message, bool warning) {
  if (problems_.size() == kMost) {
    more_ = true;
    return;
  }
  problems_.push_back(
      {at.line, at.column, printable(std::move(path)), printable(std::move(message)), warning});
}

void Problems::only_error(Position at, std::string path, std::string message) {
  problems_.clear();
  more_ = false;
  error(at, std::move(path), std::move(message));
}

std::vector<Problem> Problems::take() {
  std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (more_) {
    const Problem& last = problems_.back();
    problems_.push_back(
        {last.line, last.column, "",
         fmt::format("there are more than {} problems; the others are not shown", kMost), false});
  }
  more_ = false;
  return std::exchange(problems_, {});
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 48;  // keeps a message on one line of a terminal
  if (text.size() <= kLongest) return fmt::format("\"{}\"", text);
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("\"{}...\"", text.substr(0, end));
}

}  // namespace weir::config
