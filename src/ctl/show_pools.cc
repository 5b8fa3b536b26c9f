#include "ctl/cells.h"
#include "ctl/show.h"
#include "ctl/table.h"

// Tables about pools, their backends and sessions.
namespace weir::ctl {
namespace {

void add_backends(Table& table, const Json& pool, WallTime now) {
  for (const Json& one : list(pool, "backends")) {
    const Json& totals = field(one, "totals");
    const std::uint64_t failures = failures_of(one);
    const bool removed = is_true(field(one, "removed"));
    table.add({{word(field(pool, "name"))},
               {word(field(one, "name")) + (removed ? " (removed)" : "")},
               {word(field(one, "address"))},
               state_cell(field(one, "state")),
               circuit_cell(field(one, "circuit")),
               {countdown_text(until_of(one), now)},
               state_cell(field(field(one, "health"), "state")),
               limited_cell(field(one, "active"), field(one, "max_active")),
               {word(field(one, "dialing"))},
               {word(field(one, "weight"))},
               {word(field(one, "priority"))},
               {word(field(totals, "dials"))},
               {std::to_string(failures), failures > 0 ? Mark::warning : Mark::plain},
               {counts_text(field(totals, "failures"))}});
  }
}

}  // namespace

std::vector<Line> pool_lines(const Json& body, WallTime) {
  Table table({{"POOL"},
               {"VERDICT"},
               {"BALANCE"},
               {"ELIGIBLE", Align::right},
               {"ACTIVE", Align::right},
               {"PENDING", Align::right},
               {"RETRIES", Align::right},
               {"NO BUDGET", Align::right},
               {"REJECTED"}});
  for (const Json& one : list(body, "pools")) {
    const Json& admission = field(one, "admission");
    table.add({{word(field(one, "name"))},
               state_cell(field(one, "verdict")),
               {word(field(one, "balance"))},
               {fmt::format("{}/{}", word(field(one, "eligible")), list(one, "backends").size())},
               limited_cell(field(admission, "active"), field(admission, "max_active")),
               limited_cell(field(admission, "pending"), field(admission, "max_pending")),
               {std::to_string(sum(field(one, "retries")))},
               {word(field(one, "retry_budget_denied"))},
               {counts_text(field(admission, "rejected"))}});
  }
  return table.lines();
}

std::vector<Line> backend_lines(const Json& body, WallTime now) {
  Table table({{"POOL"},
               {"BACKEND"},
               {"ADDRESS"},
               {"STATE"},
               {"CIRCUIT"},
               {"UNTIL"},
               {"HEALTH"},
               {"ACTIVE", Align::right},
               {"DIALING", Align::right},
               {"WEIGHT", Align::right},
               {"PRIORITY", Align::right},
               {"DIALS", Align::right},
               {"FAILED", Align::right},
               {"AS"}});
  if (field(body, "pools").is_array()) {
    for (const Json& pool : list(body, "pools")) add_backends(table, pool, now);
  } else {
    add_backends(table, body, now);
  }
  return table.lines();
}

std::vector<Line> session_lines(const Json& body, WallTime) {
  Table table({{"ID", Align::right},
               {"LISTENER"},
               {"CLIENT"},
               {"POOL"},
               {"BACKEND"},
               {"STATE"},
               {"AGE", Align::right},
               {"IN", Align::right},
               {"OUT", Align::right},
               {"DIALS", Align::right}});
  for (const Json& one : list(body, "sessions")) {
    const auto age = std::chrono::milliseconds(whole(field(one, "age_ms")));
    table.add({{word(field(one, "id"))},
               {word(field(one, "listener"))},
               {word(field(one, "client"))},
               {word(field(one, "pool"))},
               {word(field(one, "backend"))},
               {word(field(one, "state"))},
               {duration_text(age)},
               {bytes_text(static_cast<double>(whole(field(one, "bytes_in"))))},
               {bytes_text(static_cast<double>(whole(field(one, "bytes_out"))))},
               {std::to_string(list(one, "attempts").size())}});
  }
  std::vector<Line> lines = table.lines();
  if (is_true(field(body, "truncated"))) {
    lines.push_back({{"and more: --limit shows more, --pool and --backend fewer"}});
  }
  return lines;
}

std::vector<Line> why_lines(const Json& body, WallTime now) {
  Table table({{"BACKEND"}, {"PRIORITY", Align::right}, {"GATE"}, {"STATE"}, {"UNTIL"}, {"HINT"}});
  for (const Json& one : list(body, "backends")) {
    const bool eligible = is_true(field(one, "eligible"));
    table.add({{word(field(one, "name"))},
               {word(field(one, "priority"))},
               eligible ? Span{"eligible"} : Span{word(field(one, "gate")), Mark::bad},
               state_cell(field(one, "state")),
               {countdown_text(time_of(field(one, "until")), now)},
               {word(field(one, "hint"))}});
  }
  std::vector<Line> lines = table.lines();
  const std::string pool = word(field(body, "pool"));
  lines.insert(lines.begin(), Line{{pool + ": "}, state_cell(field(body, "verdict"))});
  return lines;
}

}  // namespace weir::ctl
