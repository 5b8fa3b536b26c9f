#include "ctl/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::ctl {

const Json& field(const Json& object, std::string_view key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(std::string(key));
  return found == object.end() ? null : *found;
}

const Json& list(const Json& object, std::string_view key) {
  static const Json empty = Json::array();
  const Json& value = field(object, key);
  return value.is_array() ? value : empty;
}

std::string word(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text.empty() ? "-" : printable(text);
  }
  return written(value);
}

std::string written(const Json& value, int indent) {
  const std::string json = value.dump(indent);
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    // U+0080 to U+009F are 0xc2 and a byte below 0xa0 in UTF-8.
    const bool c1 = byte == 0xc2 && static_cast<unsigned char>(json[i + 1]) < 0xa0;
    if (c1 || byte == 0x7f) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned char>(json[c1 ? ++i : i]));
    } else {
      text += json[i];
    }
  }
  return text;
}

std::uint64_t whole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  // Beyond this a conversion would be undefined.
  return number > 0 && number < 1.8e19 ? static_cast<std::uint64_t>(number) : 0;
}

bool is_true(const Json& value) { return value.is_boolean() && value.get<bool>(); }

std::optional<WallTime> time_of(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  return parse_time(value.get_ref<const std::string&>());
}

std::uint64_t sum(const Json& counts) {
  std::uint64_t total = 0;
  if (!counts.is_object()) return total;
  for (const Json& count : counts) total += whole(count);
  return total;
}

std::string counts_text(const Json& counts) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  if (counts.is_object()) {
    for (const auto& [reason, count] : counts.items()) sorted.emplace_back(whole(count), reason);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [count, reason] : sorted) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(reason), count);
  }
  return text.empty() ? "-" : text;
}

}  // namespace weir::ctl
