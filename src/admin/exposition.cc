#include "admin/exposition.h"

#include <fmt/format.h>

#include <iterator>

namespace weir::admin {
namespace {

void append_escaped(std::string& to, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      to += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') to += '\\';
    to += c;
  }
}

}  // namespace

void Exposition::family(std::string_view name, Type type, std::string_view help) {
  write_samples();
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help,
                 type == Type::counter ? "counter" : "gauge");
}

void Exposition::sample(Labels labels, std::uint64_t value) {
  std::string written;
  for (const auto& [label, content] : labels) {
    written += written.empty() ? "{" : ",";
    written.append(label).append("=\"");
    append_escaped(written, content);
    written += '"';
  }
  if (!written.empty()) written += '}';
  const auto [place, added] = places_.try_emplace(written, samples_.size());
  if (added) samples_.emplace_back(std::move(written), 0);
  samples_[place->second].second += value;
}

void Exposition::write_samples() {
  for (const auto& [labels, value] : samples_) {
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", name_, labels, value);
  }
  samples_.clear();
  places_.clear();
}

std::string Exposition::text() && {
  write_samples();
  return std::move(text_);
}

}  // namespace weir::admin
