#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "weir/core/close_reason.h"
#include "weir/net/descriptor_budget.h"
#include "weir/net/line_log.h"
#include "weir/net/listen_socket.h"
#include "weir/net/loop.h"
#include "weir/net/resolver.h"
#include "weir/proxy/listener_state.h"

namespace weir::app {

// One data thread: its loop, its listening sockets, and every session it accepted, from accept to
// end. Made, started and joined by the instance's thread; in between everything happens on its own.
class Worker {
 public:
  struct Listening {
    proxy::ListenerState* state;
    std::vector<net::ListenSocket> sockets;
  };
  struct Shared {
    net::Resolver& resolver;
    net::DescriptorBudget& descriptors;
    net::LineLog& access_log;
  };

  Worker(std::size_t index, std::size_t workers);
  ~Worker();  // join() was called, or start() never was

  // Throws when the thread or something it needs cannot be had; then stop().
  void start(const Shared& shared, std::vector<Listening> listening);
  // Stops accepting; calls `drained` on this worker's thread once no session is left. Any thread.
  void drain(std::function<void()> drained);
  // Ends every session. Any thread.
  void cut(core::CloseReason reason, bool at_once);
  // Ends the thread. All sessions must have ended.
  void join();
  // Ends every session at once, then the thread; nothing when it was never started.
  void stop();

  std::size_t sessions() const { return sessions_.load(std::memory_order_relaxed); }

 private:
  class Thread;  // what belongs to the thread

  const std::size_t index_;
  const std::size_t workers_;
  net::Loop loop_;
  std::atomic<std::size_t> sessions_{0};
  std::unique_ptr<Thread> running_;  // the thread's, once it runs
  std::thread thread_;
};

}  // namespace weir::app
