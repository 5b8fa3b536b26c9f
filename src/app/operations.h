#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "app/engine.h"
#include "weir/admin/control.h"
#include "weir/net/timer.h"

namespace weir::app {

// An operator's orders about backends and sessions. Each is logged, has an event in the journal,
// and has taken effect on all workers when it returns. Control thread.
class Operations {
 public:
  explicit Operations(Engine& engine) : engine_(engine) {}

  // False: there is no such backend.
  bool drain(const std::string& pool, const std::string& backend,
             std::optional<core::Duration> deadline);
  bool disable(const std::string& pool, const std::string& backend);
  bool enable(const std::string& pool, const std::string& backend);
  bool order(const std::string& pool, const std::string& backend, admin::CircuitOrder order);

  // How many sessions were ended.
  std::size_t kill(std::uint64_t session);
  std::size_t kill(const std::string& pool, const std::string& backend);

  // Notes which drains have come to their end. True while there is one that has not.
  bool tidy();

 private:
  // A backend that drains.
  struct Drain {
    std::string pool;
    std::shared_ptr<upstream::Backend> backend;
    std::unique_ptr<net::Timer> deadline;
  };

  std::shared_ptr<upstream::Backend> find(const std::string& pool, const std::string& backend);
  std::size_t end_sessions(const std::shared_ptr<upstream::Backend>& backend,
                           core::CloseReason reason);
  void deadline_passed(const std::string& pool, const std::shared_ptr<upstream::Backend>& backend);
  void forget_drain(const upstream::Backend& backend);
  void tell(net::EventKind kind, const std::string& pool, const std::string& backend,
            const std::string& to, const std::string& cause);

  Engine& engine_;
  std::list<Drain> drains_;
};

}  // namespace weir::app
