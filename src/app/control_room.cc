#include "app/control_room.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace weir::app {

ControlRoom::ControlRoom(Engine& engine, Operations& operations, Reloading& reloading,
                         Process process)
    : engine_(engine),
      operations_(operations),
      reloading_(reloading),
      process_(std::move(process)) {}

admin::Status ControlRoom::status() {
  admin::Status status;
  status.version = WEIR_VERSION;
  status.pid = ::getpid();
  status.uptime = engine_.control.refresh_now() - process_.started;
  status.config_generation = reloading_.generation();
  status.workers = engine_.workers.size();
  for (const auto& worker : engine_.workers) status.sessions += worker->sessions();
  status.sessions += process_.sessions_elsewhere();
  status.draining = process_.draining();
  status.reloads = reloading_.accepted();
  status.reloads_refused = reloading_.refused();
  return status;
}

admin::Snapshot ControlRoom::snapshot() { return process_.snapshot(); }

// Each worker gives its oldest, one more than are wanted, so that it shows whether there are more.
admin::Sessions ControlRoom::sessions(const proxy::SessionFilter& filter, std::size_t most) {
  admin::Sessions found;
  found.sessions = operations_.sessions(filter, most + 1);
  std::sort(found.sessions.begin(), found.sessions.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  found.truncated = found.sessions.size() > most;
  if (found.truncated) found.sessions.resize(most);
  return found;
}

std::optional<proxy::SessionView> ControlRoom::session(std::uint64_t id) {
  return operations_.session(id);
}

admin::Reload ControlRoom::plan(std::optional<std::string_view> text) {
  return reloading_.plan(text);
}

admin::Reload ControlRoom::reload(std::optional<std::string_view> text) {
  return reloading_.reload(text, "operator");
}

bool ControlRoom::drain(const std::string& pool, const std::string& backend,
                        std::optional<core::Duration> deadline) {
  return operations_.drain(pool, backend, deadline);
}

bool ControlRoom::disable(const std::string& pool, const std::string& backend) {
  return operations_.disable(pool, backend);
}

bool ControlRoom::enable(const std::string& pool, const std::string& backend) {
  return operations_.enable(pool, backend);
}

bool ControlRoom::order(const std::string& pool, const std::string& backend,
                        admin::CircuitOrder order) {
  return operations_.order(pool, backend, order);
}

bool ControlRoom::kill(std::uint64_t session) { return operations_.kill(session) > 0; }

std::size_t ControlRoom::kill(const std::string& pool, const std::string& backend) {
  return operations_.kill(pool, backend);
}

}  // namespace weir::app
