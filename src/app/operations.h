#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/engine.h"
#include "app/errand.h"
#include "weir/admin/control.h"
#include "weir/net/timer.h"

namespace weir::app {

// An operator's orders about backends and sessions. Each is logged, has an event in the journal,
// and has taken effect on all workers when it returns. Control thread.
class Operations {
 public:
  // Processes that drain after an upgrade have sessions too, and are asked what is asked here.
  using Elsewhere = std::function<Answer(const Errand&)>;

  // `look_later` sees to it that tidy() is called before long.
  Operations(Engine& engine, Elsewhere elsewhere, std::function<void()> look_later)
      : engine_(engine), elsewhere_(std::move(elsewhere)), look_later_(std::move(look_later)) {}

  // False: there is no such backend.
  bool drain(const std::string& pool, const std::string& backend,
             std::optional<core::Duration> deadline);
  bool disable(const std::string& pool, const std::string& backend);
  bool enable(const std::string& pool, const std::string& backend);
  bool order(const std::string& pool, const std::string& backend, admin::CircuitOrder order);

  // Up to `most` of those that are meant, of each worker, in no order.
  std::vector<proxy::SessionView> sessions(const proxy::SessionFilter& filter, std::size_t most);
  std::optional<proxy::SessionView> session(std::uint64_t id);

  // How many sessions were ended.
  std::size_t kill(std::uint64_t session);
  std::size_t kill(const std::string& pool, const std::string& backend);

  // The same without a word, for another process that an operator has asked.
  std::size_t end_sessions(const std::string& pool, const std::string& backend,
                           core::CloseReason reason);
  void set_duty(const std::string& pool, const std::string& backend, bool takes_sessions);

  // Takes up a drain that the process before this one has begun.
  void resume_drain(const std::string& pool, const std::shared_ptr<upstream::Backend>& backend);

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

  Answer ask_elsewhere(Errand::Kind kind, const std::string& pool, const std::string& backend,
                       core::CloseReason reason, bool takes_sessions);

  Engine& engine_;
  const Elsewhere elsewhere_;
  const std::function<void()> look_later_;
  std::list<Drain> drains_;
};

}  // namespace weir::app
