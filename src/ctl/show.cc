#include "ctl/show.h"

#include "ctl/yaml_text.h"

namespace weir::ctl {

int status(const Call& call) { return show(call, {.target = path({"status"})}, &status_lines); }

int health(const Call& call) { return show(call, {.target = path({"health"})}, &health_lines); }

int listeners(const Call& call) {
  return show(call, {.target = path({"listeners"})}, &listener_lines);
}

int pools(const Call& call) { return show(call, {.target = path({"pools"})}, &pool_lines); }

int backends(const Call& call) {
  const std::string pool = call.value("POOL");
  return show(call, {.target = pool.empty() ? path({"pools"}) : path({"pools", pool})},
              &backend_lines);
}

int sessions(const Call& call) {
  const std::string asked = query({{"pool", call.value("--pool")},
                                   {"backend", call.value("--backend")},
                                   {"listener", call.value("--listener")},
                                   {"limit", call.value("--limit")}});
  return show(call, {.target = path({"sessions"}) + asked}, &session_lines);
}

int why(const Call& call) {
  return show(call, {.target = path({"why"}) + query({{"pool", call.value("POOL")}})}, &why_lines);
}

int config(const Call& call) { return show(call, {.target = path({"config"})}, &config_lines); }

std::vector<Line> config_lines(const Json& body, WallTime) { return yaml_lines(body); }

}  // namespace weir::ctl
