#pragma once

#include <functional>
#include <string>

#include "app/engine.h"
#include "app/operations.h"
#include "app/reloading.h"
#include "weir/admin/control.h"

namespace weir::app {

// What the admin side may ask and order, passed on to whom it concerns. Control thread.
class ControlRoom final : public admin::Control {
 public:
  struct Process {
    const config::Configuration& in_force;
    core::TimePoint started;
    std::function<admin::Snapshot()> snapshot;
    std::function<std::uint64_t()> sessions_elsewhere;  // of processes that drain after an upgrade
    std::function<bool()> draining;
    std::function<void()> shut_down;
  };

  ControlRoom(Engine& engine, Operations& operations, Reloading& reloading, Process process);

  admin::Status status() override;
  admin::Snapshot snapshot() override;
  admin::Sessions sessions(const proxy::SessionFilter& filter, std::size_t most) override;
  std::optional<proxy::SessionView> session(std::uint64_t id) override;
  const config::Configuration& configuration() override { return process_.in_force; }
  const net::Journal& journal() override { return engine_.journal; }

  admin::Reload plan(std::optional<std::string_view> text) override;
  admin::Reload reload(std::optional<std::string_view> text) override;

  bool drain(const std::string& pool, const std::string& backend,
             std::optional<core::Duration> deadline) override;
  bool disable(const std::string& pool, const std::string& backend) override;
  bool enable(const std::string& pool, const std::string& backend) override;
  bool order(const std::string& pool, const std::string& backend,
             admin::CircuitOrder order) override;
  bool kill(std::uint64_t session) override;
  std::size_t kill(const std::string& pool, const std::string& backend) override;
  void shut_down() override { process_.shut_down(); }

 private:
  Engine& engine_;
  Operations& operations_;
  Reloading& reloading_;
  const Process process_;
};

}  // namespace weir::app
