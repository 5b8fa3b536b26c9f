#include "admin/endpoints.h"

namespace weir::admin {
namespace {

// An empty body is the file that weir was started with.
std::optional<std::string_view> text_of(const Call& call) {
  if (call.request.body.empty()) return std::nullopt;
  return call.request.body;
}

HttpResponse refused(const Json& json) {
  return json_response({{"errors", json.at("errors")}, {"warnings", json.at("warnings")}}, 409);
}

}  // namespace

HttpResponse post_plan(Control& control, const Call& call) {
  const Reload plan = control.plan(text_of(call));
  const Json json = to_json(plan);
  return plan.accepted ? json_response(json) : refused(json);
}

HttpResponse post_reload(Control& control, const Call& call) {
  const Reload reload = control.reload(text_of(call));
  Json json = to_json(reload);
  if (!reload.accepted) return refused(json);
  json["config_generation"] = reload.generation;
  return json_response(json);
}

}  // namespace weir::admin
