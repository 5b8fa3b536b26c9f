#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "weir/core/close_reason.h"
#include "weir/net/descriptor_budget.h"
#include "weir/net/line_log.h"
#include "weir/net/listen_socket.h"
#include "weir/net/loop.h"
#include "weir/net/resolver.h"
#include "weir/proxy/listener.h"
#include "weir/proxy/listener_state.h"
#include "weir/proxy/session_view.h"
#include "weir/upstream/pool.h"

namespace weir::app {

// One data thread: its loop, its listening sockets, and every session it accepted, from accept to
// end. Made, started and joined by the control thread, which waits for what it asks for: a data
// thread never waits for it. In between everything happens on its own.
class Worker {
 public:
  struct Address {
    proxy::AddressId id;
    net::ListenSocket socket;
  };
  // What becomes of one listener. One that is not here yet begins.
  struct ListenerChange {
    std::shared_ptr<proxy::ListenerState> state;
    std::shared_ptr<upstream::Pool> pool;  // null = it goes, once nobody waits there any more
    core::AccessList access;
    std::vector<Address> opened;               // new addresses
    std::vector<proxy::AddressId> taken_over;  // from other listeners, with whoever waits there
    std::vector<proxy::AddressId> closed;
  };
  // From one configuration to the next, in one step: no client is accepted in between.
  struct Change {
    std::uint64_t config_generation = 1;
    std::vector<ListenerChange> listeners;
  };
  struct Shared {
    net::Resolver& resolver;
    net::DescriptorBudget& descriptors;
    net::LineLog& access_log;
    // A listener that was to go has gone from this worker. On the worker's thread.
    std::function<void(const proxy::ListenerState&)> on_listener_gone = {};
    // An address that was to be closed is closed. Likewise.
    std::function<void(proxy::AddressId)> on_address_closed = {};
  };

  Worker(std::size_t index, std::size_t workers);
  ~Worker();  // join() was called, or start() never was

  // Held, it accepts nobody until go_on().
  enum class Begin : std::uint8_t { accepting, held };
  // Throws when the thread or something it needs cannot be had; then stop().
  // No session has an id of `last_session` or less, a multiple of the number of workers.
  void start(const Shared& shared, Change first, std::uint64_t last_session = 0,
             Begin begin = Begin::accepting);
  [[nodiscard]] std::future<void> apply(Change change);

  // Up to `most` of the sessions that are meant, those with the lowest ids, ascending.
  [[nodiscard]] std::future<std::vector<proxy::SessionView>> sessions(proxy::SessionFilter filter,
                                                                      std::size_t most);
  // Null when it has no such session.
  [[nodiscard]] std::future<std::unique_ptr<proxy::SessionView>> session(std::uint64_t id);
  // Ends one session, or those on one backend, dials included; answers how many.
  [[nodiscard]] std::future<std::size_t> end_session(std::uint64_t id, core::CloseReason reason);
  [[nodiscard]] std::future<std::size_t> end_sessions(std::shared_ptr<upstream::Backend> backend,
                                                      core::CloseReason reason);
  // Of the sessions with this id which worker's it would be.
  static std::size_t of_session(std::uint64_t id, std::size_t workers) {
    return static_cast<std::size_t>((id - 1) % workers);
  }

  // For another process that takes over: further descriptors of all listening sockets; nobody is
  // accepted until go_on(), answering an id that no session exceeds; those addresses are left to
  // it.
  [[nodiscard]] std::future<std::vector<Address>> share();
  [[nodiscard]] std::future<std::uint64_t> hold();
  [[nodiscard]] std::future<void> go_on();
  [[nodiscard]] std::future<void> leave(std::set<proxy::AddressId> ids);
  // The other way round: the files of its unix sockets are ours to remove.
  [[nodiscard]] std::future<void> take_paths();

  // Stops accepting: once it is done nobody new is served. Calls `drained` on this worker's thread
  // when no session is left, which may be at once.
  [[nodiscard]] std::future<void> drain(std::function<void()> drained);
  // Ends every session. Any thread.
  void cut(core::CloseReason reason, bool at_once);
  // Ends the thread. All sessions must have ended.
  void join();
  // Ends every session at once, then the thread; nothing when it was never started.
  void stop();

  std::size_t sessions() const { return sessions_.load(std::memory_order_relaxed); }

 private:
  class Thread;  // what belongs to the thread

  template <typename Result, typename Work>
  std::future<Result> on_thread(Work work);

  const std::size_t index_;
  const std::size_t workers_;
  net::Loop loop_;
  std::atomic<std::size_t> sessions_{0};
  std::unique_ptr<Thread> running_;  // the thread's, once it runs
  std::thread thread_;
};

}  // namespace weir::app
