#include "ctl/cells.h"
#include "ctl/show.h"
#include "ctl/table.h"

// Tables about the process as a whole: its status, the verdicts on its pools, its listeners.
namespace weir::ctl {

std::vector<Line> status_lines(const Json& body, WallTime) {
  const auto uptime = std::chrono::milliseconds(whole(field(body, "uptime_s")) * 1000);
  const bool draining = is_true(field(body, "draining"));
  const std::vector<std::pair<std::string, Span>> rows{
      {"version", {word(field(body, "version"))}},
      {"pid", {word(field(body, "pid"))}},
      {"uptime", {duration_text(uptime)}},
      {"generation", {word(field(body, "config_generation"))}},
      {"workers", {word(field(body, "workers"))}},
      {"sessions", {word(field(body, "sessions"))}},
      {"state", {draining ? "draining" : "serving", draining ? Mark::warning : Mark::plain}},
  };
  std::vector<Line> lines;
  for (const auto& [name, value] : rows) {
    lines.push_back({{name, Mark::heading}, {std::string(12 - name.size(), ' ')}, value});
  }
  return lines;
}

std::vector<Line> health_lines(const Json& body, WallTime now) {
  Table table({{"NAME"}, {"STATE"}, {"CIRCUIT"}, {"UNTIL"}});
  for (const Json& pool : list(body, "pools")) {
    const Json& backends = list(pool, "backends");
    table.add({{word(field(pool, "name"))},
               state_cell(field(pool, "verdict")),
               {fmt::format("{} of {} eligible", word(field(pool, "eligible")), backends.size())},
               {}});
    for (const Json& backend : backends) {
      table.add({{"  " + word(field(backend, "name"))},
                 state_cell(field(backend, "state")),
                 circuit_cell(field(backend, "circuit")),
                 {countdown_text(until_of(backend), now)}});
    }
  }
  return table.lines();
}

std::vector<Line> listener_lines(const Json& body, WallTime) {
  Table table({{"LISTENER"},
               {"STATE"},
               {"POOL"},
               {"CONNECTIONS", Align::right},
               {"ACCEPTED", Align::right},
               {"ERRORS", Align::right},
               {"IN", Align::right},
               {"OUT", Align::right},
               {"BIND"},
               {"CLOSED"}});
  for (const Json& one : list(body, "listeners")) {
    std::string bind;
    for (const Json& address : list(one, "bind")) {
      bind += (bind.empty() ? "" : " ") + word(address);
    }
    const std::uint64_t errors = sum(field(one, "accept_errors"));
    table.add({{word(field(one, "name"))},
               state_cell(field(one, "state")),
               {word(field(one, "pool"))},
               limited_cell(field(one, "connections"), field(one, "max_connections")),
               {word(field(one, "accepted"))},
               {std::to_string(errors), errors > 0 ? Mark::warning : Mark::plain},
               {bytes_text(static_cast<double>(whole(field(one, "bytes_in"))))},
               {bytes_text(static_cast<double>(whole(field(one, "bytes_out"))))},
               {bind.empty() ? "-" : bind},
               {counts_text(field(one, "closed"))}});
  }
  return table.lines();
}

}  // namespace weir::ctl
