#include "ctl/lines.h"

namespace weir::ctl {
namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

// SGR of ECMA-48, which every terminal in use understands.
std::string_view code_of(Mark mark) {
  switch (mark) {
    case Mark::plain:
      return "";
    case Mark::heading:
      return "\x1b[1m";
    case Mark::warning:
      return "\x1b[33m";
    case Mark::bad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char byte : text) width += continues_character(byte) ? 0U : 1U;
  return width;
}

std::string clipped(std::string_view text, std::size_t width) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues_character(text[i])) continue;
    if (seen == width) return std::string(text.substr(0, i));
    ++seen;
  }
  return std::string(text);
}

Line clipped(const Line& line, std::size_t width) {
  Line kept;
  for (const Span& span : line) {
    if (width == 0) break;
    kept.push_back({clipped(span.text, width), span.mark});
    width -= width_of(kept.back().text);
  }
  return kept;
}

std::string text_of(const std::vector<Line>& lines, bool colours) {
  std::string text;
  for (const Line& line : lines) {
    for (const Span& span : line) {
      const bool coloured = colours && span.mark != Mark::plain && !span.text.empty();
      if (coloured) text += code_of(span.mark);
      text += span.text;
      if (coloured) text += "\x1b[0m";
    }
    text += '\n';
  }
  return text;
}

}  // namespace weir::ctl
