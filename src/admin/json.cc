#include "admin/json.h"

#include <chrono>
#include <cmath>

namespace weir::admin {

std::string written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const Status& status) {
  const auto uptime = std::chrono::duration_cast<std::chrono::milliseconds>(status.uptime).count();
  return {{"version", status.version},
          {"pid", status.pid},
          {"uptime_s", static_cast<double>(uptime) / 1000},
          {"config_generation", status.config_generation},
          {"workers", status.workers},
          {"sessions", status.sessions},
          {"draining", status.draining}};
}

Json to_json(const Snapshot::Listener& listener) {
  return {{"name", listener.name},
          {"bind", listener.bind},
          {"pool", listener.pool},
          {"connections", listener.connections},
          {"max_connections", listener.max_connections},
          {"accepted", listener.accepted},
          {"accept_errors", counts<net::AcceptError>(listener.accept_errors)},
          {"closed", counts<core::CloseReason>(listener.closed)},
          {"bytes_in", listener.bytes_in},
          {"bytes_out", listener.bytes_out},
          {"state", listener.draining ? "draining" : "serving"}};
}

Json to_json(const Snapshot& snapshot) {
  Json listeners = Json::array();
  for (const Snapshot::Listener& each : snapshot.listeners) listeners.push_back(to_json(each));
  Json pools = Json::array();
  for (const Snapshot::Pool& each : snapshot.pools) pools.push_back(to_json(each, snapshot));
  return {{"sessions", snapshot.sessions},
          {"listeners", std::move(listeners)},
          {"pools", std::move(pools)},
          {"access_log_dropped", snapshot.access_log_dropped},
          {"open_fds", snapshot.open_fds}};
}

}  // namespace weir::admin
