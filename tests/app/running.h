#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "tests/net/peer.h"
#include "tests/net/scratch_folder.h"
#include "weir/app/instance.h"

namespace weir::app {

// An instance's threads have clocks of their own: there is nothing to inject, so this looks now and
// then.
inline bool comes_true(const std::function<bool()>& condition) {
  using Clock = std::chrono::steady_clock;
  for (const auto until = Clock::now() + std::chrono::seconds(20); Clock::now() < until;) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// A listener `orders` at `bind`, and its pool `orders` with one backend `a`.
inline config::Configuration configuration(const std::string& backend,
                                           const std::string& bind = "") {
  config::Configuration made;
  made.app.workers = 2;
  made.app.access_log = "off";
  proxy::ListenerOptions listener;
  listener.name = listener.pool = "orders";
  core::Endpoint any_port;
  any_port.host = "127.0.0.1";
  listener.bind = {bind.empty() ? any_port : core::parse_endpoint(bind).endpoint};
  made.listeners = {listener};
  upstream::PoolOptions pool;
  pool.name = "orders";
  upstream::BackendOptions a;
  a.name = "a";
  a.address = core::parse_endpoint(backend).endpoint;
  pool.backends = {a};
  made.pools = {pool};
  return made;
}

// An instance with its control loop on a thread of its own.
class Running {
 public:
  explicit Running(const config::Configuration& made)
      : instance(made), thread_([this] { code_ = instance.run(); }) {}
  ~Running() {
    if (!thread_.joinable()) return;
    instance.drain();
    thread_.join();
  }

  net::SocketAddress address() const { return instance.addresses("orders").at(0); }
  net::Peer client() const { return net::connect_to(address()); }
  // Waits for the end of the drain; answers the exit code.
  int end() {
    thread_.join();
    return code_;
  }

  Instance instance;

 private:
  int code_ = -1;
  std::thread thread_;
};

}  // namespace weir::app
