#include "admin/dashboard.h"
#include "admin/endpoints.h"

namespace weir::admin {
namespace {

HttpResponse get_dashboard(Control&, const Call&) {
  HttpResponse response;
  response.type = HttpResponse::kHtml;
  response.body = kDashboardPage;
  response.policy = kDashboardPolicy;
  return response;
}

}  // namespace

std::vector<Route> read_only_routes() {
  return {
      {"GET", "/", "", get_dashboard},       {"GET", "/metrics", "", get_metrics},
      {"GET", "/healthz", "", get_healthz},  {"GET", "/v1/status", "", get_status},
      {"GET", "/v1/health", "", get_health}, {"GET", "/v1/listeners", "", get_listeners},
      {"GET", "/v1/pools", "", get_pools},   {"GET", "/v1/events", "since", get_events},
  };
}

std::vector<Route> all_routes() {
  return {
      {"GET", "/metrics", "", get_metrics},
      {"GET", "/healthz", "", get_healthz},
      {"GET", "/v1/status", "", get_status},
      {"GET", "/v1/health", "", get_health},
      {"GET", "/v1/listeners", "", get_listeners},
      {"GET", "/v1/pools", "", get_pools},
      {"GET", "/v1/pools/*", "", get_pool},
      {"GET", "/v1/pools/*/backends/*", "", get_backend},
      {"POST", "/v1/pools/*/backends/*/drain", "", post_drain},
      {"POST", "/v1/pools/*/backends/*/disable", "", post_disable},
      {"POST", "/v1/pools/*/backends/*/enable", "", post_enable},
      {"POST", "/v1/pools/*/backends/*/circuit/*", "", post_circuit},
      {"GET", "/v1/sessions", "pool backend listener limit", get_sessions},
      {"DELETE", "/v1/sessions", "backend", delete_sessions},
      {"GET", "/v1/sessions/*", "", get_session},
      {"DELETE", "/v1/sessions/*", "", delete_session},
      {"GET", "/v1/events", "since", get_events},
      {"GET", "/v1/why", "pool", get_why},
      {"GET", "/v1/config", "", get_config},
      {"POST", "/v1/plan", "", post_plan},
      {"POST", "/v1/reload", "", post_reload},
      {"POST", "/v1/shutdown", "", post_shutdown},
  };
}

}  // namespace weir::admin
