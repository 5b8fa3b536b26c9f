#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "weir/admin/control.h"
#include "weir/admin/snapshot.h"
#include "weir/app/program.h"
#include "weir/config/configuration.h"
#include "weir/config/load.h"
#include "weir/net/socket_address.h"

namespace weir::app {

// Why an instance cannot start: an address in use, a file that cannot be opened. For the operator.
struct StartError : std::runtime_error {
  using runtime_error::runtime_error;
};

class Inheritance;

// Where an instance comes from, and how another follows it.
struct Origin {
  std::string file;                    // what a reload reads again; empty = there is none
  Program program;                     // what an upgrade starts; empty = there is none
  Inheritance* inheritance = nullptr;  // what this process was given; null = nothing
};

// One running weir: the control loop on the thread that calls run(), and the workers. Composed from
// a validated configuration; the program has one, tests have as many as they like.
class Instance {
 public:
  // Binds everything and starts the workers; from its return on, clients are served. Throws
  // StartError, and then nothing is left running or bound. In an upgrade it takes over on the way.
  explicit Instance(const config::Configuration& configuration, const Origin& origin = {});
  ~Instance();  // cuts off whatever still runs

  // The signals that mean something to weir.
  static constexpr std::initializer_list<int> kSignals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1,
                                                          SIGUSR2};
  // Takes them for this instance while it runs. Before run(), at most one instance a process.
  void handle_signals();

  // Runs the control loop until a drain has ended; answers the process's exit code.
  int run();

  // Begins to drain: nothing new is accepted, running sessions have until `shutdown.deadline`. Any
  // thread.
  void drain();

  // Waits until `work` has been done on the control thread. From any other, while run() runs.
  void control(const std::function<void(admin::Control&)>& work);
  // A reload with what was loaded already, or its plan, in the same way.
  admin::Reload reload(config::LoadResult loaded);
  admin::Reload plan(const config::LoadResult& loaded);

  admin::Snapshot snapshot() const;  // any thread

  // Where a listener listens, in the order of its `bind`. Any thread.
  std::vector<net::SocketAddress> addresses(const std::string& listener) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::app
