#include "ctl/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ctl/cells.h"
#include "ctl/journal.h"
#include "ctl/table.h"

namespace weir::ctl {
namespace {

// More events than this are not recent.
constexpr std::size_t kEvents = 10;

std::string bytes_rate(std::optional<double> rate) { return rate ? bytes_text(*rate) + "/s" : "-"; }

Line head(const View& view) {
  const Json& status = view.sample.status;
  if (status.is_null()) return {{"weir", Mark::heading}};
  const auto uptime = std::chrono::milliseconds(whole(field(status, "uptime_s")) * 1000);
  Line line{{fmt::format("weir {}", word(field(status, "version"))), Mark::heading},
            {fmt::format("  up {}  generation {}  {}", duration_text(uptime),
                         word(field(status, "config_generation")),
                         plural(whole(field(status, "sessions")), "session"))}};
  if (is_true(field(status, "draining"))) {
    line.push_back({"  "});
    line.push_back({"draining", Mark::warning});
  }
  return line;
}

Table listener_table(const View& view) {
  Table table({{"LISTENER"},
               {"STATE"},
               {"CONNECTIONS", Align::right},
               {"ACCEPTS/S", Align::right},
               {"IN", Align::right},
               {"OUT", Align::right}});
  for (const Json& one : list(view.sample.listeners, "listeners")) {
    const std::string name = word(field(one, "name"));
    const std::string id = "listener/" + name;
    table.add({{name},
               state_cell(field(one, "state")),
               limited_cell(field(one, "connections"), field(one, "max_connections")),
               {rate_text(view.rates.of(id + "/accepted"))},
               {bytes_rate(view.rates.of(id + "/bytes_in"))},
               {bytes_rate(view.rates.of(id + "/bytes_out"))}});
  }
  return table;
}

Table pool_table(const View& view) {
  Table table({{"POOL"},
               {"VERDICT"},
               {"ELIGIBLE", Align::right},
               {"ACTIVE", Align::right},
               {"PENDING", Align::right},
               {"REFUSED/S", Align::right}});
  for (const Json& one : list(view.sample.pools, "pools")) {
    const std::string name = word(field(one, "name"));
    const Json& admission = field(one, "admission");
    table.add({{name},
               state_cell(field(one, "verdict")),
               {fmt::format("{}/{}", word(field(one, "eligible")), list(one, "backends").size())},
               limited_cell(field(admission, "active"), field(admission, "max_active")),
               limited_cell(field(admission, "pending"), field(admission, "max_pending")),
               {rate_text(view.rates.of("pool/" + name + "/rejected"))}});
  }
  return table;
}

Table backend_table(const View& view, WallTime now) {
  Table table({{"BACKEND"},
               {"STATE"},
               {"CIRCUIT"},
               {"UNTIL"},
               {"ACTIVE", Align::right},
               {"DIALING", Align::right},
               {"DIALS/S", Align::right},
               {"FAILED/S", Align::right}});
  for (const Json& pool : list(view.sample.pools, "pools")) {
    for (const Json& one : list(pool, "backends")) {
      const std::string name = word(field(pool, "name")) + "/" + word(field(one, "name"));
      const std::string id = "pool/" + name + "/" + word(field(one, "address"));
      const auto failures = view.rates.of(id + "/failures");
      table.add({{name},
                 state_cell(field(one, "state")),
                 circuit_cell(field(one, "circuit")),
                 {countdown_text(until_of(one), now)},
                 limited_cell(field(one, "active"), field(one, "max_active")),
                 {word(field(one, "dialing"))},
                 {rate_text(view.rates.of(id + "/dials"))},
                 {rate_text(failures), failures.value_or(0) > 0 ? Mark::warning : Mark::plain}});
    }
  }
  return table;
}

std::vector<Line> event_section(const View& view) {
  std::vector<Line> lines{{{"EVENTS", Mark::heading}}};
  const auto recent = static_cast<std::ptrdiff_t>(std::min(kEvents, view.events.size()));
  for (auto event = view.events.end() - recent; event != view.events.end(); ++event) {
    lines.push_back(event_line(*event));
  }
  return lines;
}

// The heading stays; of a list that is cut the last row says so. Of events the last ones stay.
void cut(std::vector<Line>& lines, std::size_t rows, bool keep_last) {
  if (lines.size() <= rows) return;
  if (rows < 2) {
    lines.resize(rows);
    return;
  }
  const auto excess = static_cast<std::ptrdiff_t>(lines.size() - rows);
  if (keep_last) {
    lines.erase(lines.begin() + 1, lines.begin() + 1 + excess);
    return;
  }
  lines.resize(rows - 1);
  lines.push_back({{fmt::format("and {} more", excess + 1)}});
}

}  // namespace

std::vector<std::size_t> shares(const std::vector<std::size_t>& wishes, std::size_t rows) {
  std::vector<std::size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a] < wishes[b]; });
  std::vector<std::size_t> given(wishes.size());
  std::size_t waiting = wishes.size();
  for (const std::size_t one : order) {
    given[one] = std::min(wishes[one], rows / waiting--);
    rows -= given[one];
  }
  return given;
}

std::vector<Line> frame(const View& view, WallTime now, ScreenSize size) {
  std::vector<Line> lines{head(view)};
  if (!view.failure.empty()) {
    lines.push_back({{view.failure + "; trying again", Mark::bad}});
  }
  std::vector<std::vector<Line>> sections{listener_table(view).lines(), pool_table(view).lines(),
                                          backend_table(view, now).lines(), event_section(view)};
  if (size.rows > 0) {
    std::vector<std::size_t> wishes;
    for (const auto& section : sections) wishes.push_back(section.size());
    const std::size_t fixed = lines.size() + sections.size();  // an empty line before each
    const auto given = shares(wishes, size.rows > fixed ? size.rows - fixed : 0);
    for (std::size_t i = 0; i < sections.size(); ++i) {
      cut(sections[i], given[i], i + 1 == sections.size());
    }
  }
  for (const auto& section : sections) {
    lines.emplace_back();
    lines.insert(lines.end(), section.begin(), section.end());
  }
  if (size.rows > 0 && lines.size() > size.rows) lines.resize(size.rows);
  if (size.columns > 0) {
    for (Line& line : lines) line = clipped(line, size.columns);
  }
  return lines;
}

}  // namespace weir::ctl
