#include "arguments.h"

#include <fmt/core.h>

#include <charconv>
#include <stdexcept>

namespace weir::bench {

Arguments::Arguments(const std::vector<std::string_view>& words, std::string_view usage)
    : usage_(usage) {
  for (std::string_view word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) refuse(word);
    values_[word.substr(0, equals)] = number(word, word.substr(equals + 1));
  }
}

void Arguments::expect_nothing_left() const {
  if (!values_.empty()) refuse(values_.begin()->first);
}

void Arguments::refuse(std::string_view word) const {
  throw std::invalid_argument(fmt::format("cannot use '{}'\n{}", word, usage_));
}

std::uint64_t Arguments::number(std::string_view word, std::string_view text) const {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) refuse(word);
  return value;
}

}  // namespace weir::bench
