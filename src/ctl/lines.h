#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Lines of text with emphasis, for a pipe, a terminal and a curses screen alike.
namespace weir::ctl {

enum class Mark { plain, heading, warning, bad };

struct Span {
  std::string text;
  Mark mark = Mark::plain;
  bool operator==(const Span&) const = default;
};

using Line = std::vector<Span>;

// Columns of a terminal that the text takes: characters of UTF-8, each one column wide.
std::size_t width_of(std::string_view text);
std::string clipped(std::string_view text, std::size_t width);
Line clipped(const Line& line, std::size_t width);

// Each line with its newline; without colours the marks leave no trace.
std::string text_of(const std::vector<Line>& lines, bool colours);

}  // namespace weir::ctl
