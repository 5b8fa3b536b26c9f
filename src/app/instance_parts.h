#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/control_room.h"
#include "app/doors.h"
#include "app/engine.h"
#include "app/fresh_sockets.h"
#include "app/inheritance.h"
#include "app/operations.h"
#include "app/predecessors.h"
#include "app/reloading.h"
#include "app/succession.h"
#include "weir/app/instance.h"
#include "weir/app/serving.h"
#include "weir/app/worker.h"
#include "weir/net/descriptor_budget.h"
#include "weir/net/journal.h"
#include "weir/net/line_log.h"
#include "weir/net/loop.h"
#include "weir/net/resolver.h"
#include "weir/net/signals.h"
#include "weir/net/timer.h"

namespace weir::app {

class Instance::Parts {
 public:
  Parts(const config::Configuration& configuration, const Origin& origin);
  ~Parts();

  void handle_signals();
  int run();
  void drain(const std::string& cause);
  void control(const std::function<void(admin::Control&)>& work);
  admin::Reload reload(config::LoadResult loaded);
  admin::Reload plan(const config::LoadResult& loaded);
  void post_drain();
  admin::Snapshot snapshot() const;
  std::vector<net::SocketAddress> addresses(const std::string& listener) const {
    return serving_.addresses(listener);
  }

 private:
  void bind_first(Listening listening);
  void restore(const State& state);
  void size_descriptors();
  void start_workers(std::uint64_t last_session, Worker::Begin begin);
  void begin_serving(Inheritance& inheritance, FreshSockets fresh);
  void make_desks(const Origin& origin);
  void open_doors(Listening listening);
  void begin_drain(const std::string& cause);
  admin::Snapshot own_snapshot() const;
  void stop_workers();
  void adopt(const config::Configuration& configuration);
  void on_signal(int number);
  void reload_file();
  void tidy();
  void tidy_soon();
  void worker_drained();

  config::Configuration in_force_;
  const std::size_t worker_count_;
  const std::size_t descriptor_limit_;
  std::size_t own_descriptors_ = 0;  // that no reload changes
  net::Journal journal_;
  net::Loop control_;
  std::vector<std::unique_ptr<Worker>> workers_;
  net::Resolver resolver_;  // answers to workers' loops, so it goes before them
  std::unique_ptr<net::LineLog> access_log_;
  Serving serving_;
  std::unique_ptr<net::DescriptorBudget> descriptors_;
  std::vector<Worker::Change> first_changes_;

  std::vector<Rebinding::Inherited> inherited_;

  Engine engine_;
  Predecessors predecessors_;
  Operations operations_;
  std::unique_ptr<Reloading> reloading_;
  std::unique_ptr<ControlRoom> room_;
  std::unique_ptr<Doors> doors_;
  std::unique_ptr<Succession> succession_;
  std::unique_ptr<net::Signals> signals_;
  net::Timer deadline_;
  net::Timer tidy_;
  bool told_to_end_ = false;  // by a signal
  std::size_t undrained_ = 0;
};

}  // namespace weir::app
