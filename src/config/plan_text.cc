#include <fmt/format.h>

#include "weir/config/plan.h"

namespace weir::config {

std::string_view text(PlanKind kind) {
  switch (kind) {
    case PlanKind::process:
      return "process";
    case PlanKind::listener:
      return "listener";
    case PlanKind::pool:
      return "pool";
    case PlanKind::backend:
      return "backend";
  }
  return "";
}

std::string_view text(PlanAction action) {
  switch (action) {
    case PlanAction::kept:
      return "kept";
    case PlanAction::retuned:
      return "retuned";
    case PlanAction::rebound:
      return "rebound";
    case PlanAction::reset:
      return "reset";
    case PlanAction::added:
      return "added";
    case PlanAction::resumed:
      return "resumed";
    case PlanAction::drained:
      return "drained";
  }
  return "";
}

std::string text(const PlanItem& item) {
  std::string line = fmt::format("{}{}{}: {}", text(item.kind), item.name.empty() ? "" : " ",
                                 item.name, text(item.action));
  std::string_view separator = ": ";
  for (const KeyChange& change : item.keys) {
    const auto shown = [](std::string_view value) { return value.empty() ? "none" : value; };
    line +=
        fmt::format("{}{}: {} -> {}", separator, change.key, shown(change.from), shown(change.to));
    separator = "; ";
  }
  return line;
}

}  // namespace weir::config
