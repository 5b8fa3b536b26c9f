#include "admin/exposition.h"

#include <fmt/format.h>

#include <chrono>
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

std::string_view word(Exposition::Type type) {
  switch (type) {
    case Exposition::Type::counter:
      return "counter";
    case Exposition::Type::gauge:
      return "gauge";
    case Exposition::Type::histogram:
      return "histogram";
  }
  return {};
}

}  // namespace

void Exposition::family(std::string_view name, Type type, std::string_view help) {
  write_samples();
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help,
                 word(type));
}

void Exposition::histogram(std::string_view pool, const core::HistogramCounts& counts) {
  std::string label = "pool=\"";
  append_escaped(label, pool);
  label += '"';
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < core::kHistogramBounds.size(); ++i) {
    so_far += counts.counts[i];
    fmt::format_to(std::back_inserter(text_), "{}_bucket{{{},le=\"{:g}\"}} {}\n", name_, label,
                   std::chrono::duration<double>(core::kHistogramBounds[i]).count(), so_far);
  }
  so_far += counts.counts.back();
  fmt::format_to(std::back_inserter(text_),
                 "{0}_bucket{{{1},le=\"+Inf\"}} {2}\n{0}_sum{{{1}}} {3}\n{0}_count{{{1}}} {2}\n",
                 name_, label, so_far, static_cast<double>(counts.microseconds) / 1e6);
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
