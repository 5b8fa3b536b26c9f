#include "admin/json.h"
#include "admin/moments.h"

namespace weir::admin {
namespace {

Json change(const config::PlanItem& item) {
  Json keys = Json::array();
  for (const config::KeyChange& each : item.keys) {
    keys.push_back({{"key", each.key}, {"from", each.from}, {"to", each.to}});
  }
  return {{"kind", config::text(item.kind)},
          {"name", item.name},
          {"action", config::text(item.action)},
          {"keys", std::move(keys)}};
}

Json scalar(const config::Description& description) {
  // Numbers and booleans are written as JSON has them.
  return Json::parse(description.text);
}

}  // namespace

Json to_json(const config::Problem& problem) {
  return {{"line", problem.line},
          {"column", problem.column},
          {"path", problem.path},
          {"message", problem.message}};
}

Json to_json(const Reload& reload) {
  Json changes = Json::array();
  Json errors = Json::array();
  Json warnings = Json::array();
  for (const config::PlanItem& each : reload.plan.items) changes.push_back(change(each));
  for (const config::Problem& each : reload.problems) {
    (each.warning ? warnings : errors).push_back(to_json(each));
  }
  return {{"changes", std::move(changes)},
          {"errors", std::move(errors)},
          {"warnings", std::move(warnings)}};
}

Json to_json(const net::Event& event) {
  const auto or_null = [](const std::string& word) { return word.empty() ? Json() : Json(word); };
  return {{"seq", event.seq},
          {"ts", text(event.at)},
          {"kind", name(event.kind)},
          {"pool", or_null(event.pool)},
          {"backend", or_null(event.backend)},
          {"to", event.to},
          {"cause", event.cause}};
}

Json to_json(const config::Description& description) {
  switch (description.kind) {
    case config::Description::Kind::text:
      return description.text;
    case config::Description::Kind::number:
    case config::Description::Kind::boolean:
      return scalar(description);
    case config::Description::Kind::list: {
      Json list = Json::array();
      for (const config::Description& each : description.children) list.push_back(to_json(each));
      return list;
    }
    case config::Description::Kind::mapping: {
      Json mapping = Json::object();
      for (const config::Description& each : description.children) {
        mapping[each.key] = to_json(each);
      }
      return mapping;
    }
  }
  return nullptr;
}

}  // namespace weir::admin
