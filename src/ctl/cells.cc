#include "ctl/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weir::ctl {
namespace {

template <std::size_t Count>
bool among(const std::array<std::string_view, Count>& words, std::string_view one) {
  return std::find(words.begin(), words.end(), one) != words.end();
}

}  // namespace

Span state_cell(const Json& value) {
  constexpr std::array<std::string_view, 4> bad{"down", "open", "circuit_open", "health_unhealthy"};
  constexpr std::array<std::string_view, 6> warning{"degraded",    "half_open", "circuit_half_open",
                                                    "at_capacity", "draining",  "disabled"};
  const std::string text = word(value);
  const Mark mark = among(bad, text)       ? Mark::bad
                    : among(warning, text) ? Mark::warning
                                           : Mark::plain;
  return {text, mark};
}

Span limited_cell(const Json& count, const Json& limit) {
  if (whole(limit) == 0) return {word(count)};
  const bool full = whole(count) >= whole(limit);
  return {fmt::format("{}/{}", word(count), word(limit)), full ? Mark::warning : Mark::plain};
}

Span circuit_cell(const Json& circuit) {
  Span cell = state_cell(field(circuit, "phase"));
  const Json& enabled = field(circuit, "enabled");
  if (is_true(field(circuit, "forced_open"))) {
    cell.text += " (forced)";
  } else if (is_true(field(circuit, "bypassed"))) {
    cell = {cell.text + " (bypassed)", Mark::warning};
  } else if (enabled.is_boolean() && !is_true(enabled)) {
    cell.text += " (off)";
  }
  return cell;
}

std::optional<WallTime> until_of(const Json& backend) {
  const Json& circuit = field(backend, "circuit");
  for (const Json* value : {&field(backend, "drain_until"), &field(circuit, "open_until"),
                            &field(circuit, "half_open_until")}) {
    if (const auto time = time_of(*value)) return time;
  }
  return std::nullopt;
}

std::uint64_t failures_of(const Json& backend) {
  return sum(field(field(backend, "totals"), "failures"));
}

}  // namespace weir::ctl
