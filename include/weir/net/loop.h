#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "weir/core/time.h"

struct uv_loop_s;

namespace weir::net {

class SocketSet;
class TimerPool;

// One thread's event loop: the thread's sockets, a libuv loop for everything else (timers, signals,
// listening sockets), the thread's clock, and the mailbox that is the only way in from another
// thread. The thread waits in the socket set, of which the libuv loop is a member. Everything else
// in `net` lives on one loop and must be destroyed before it, on its thread: the destructor asserts
// that no handle is left, so that every test that owns a loop is a leak test.
class Loop {
 public:
  using Task = std::function<void()>;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs on the calling thread until stop().
  void run();
  // Runs one turn, waiting for an event unless `wait` is false.
  void run_once(bool wait = true);
  // Ends run() after the current turn. Loop thread only.
  void stop();

  // Runs `task` on the loop's thread in one of its next turns, in the order of posting. Any
  // thread. A task posted after the last turn is destroyed unrun with the loop.
  void post(Task task);

  // The time as of the current batch of events: read once for all of them, so that a decision per
  // event costs no clock read. Loop thread only.
  core::TimePoint now() const { return now_; }
  // Reads the clock anew; called by net wherever a batch of events begins.
  core::TimePoint refresh_now();

  SocketSet& sockets() { return *sockets_; }
  TimerPool& timers() { return *timers_; }
  uv_loop_s* uv() { return uv_.get(); }

 private:
  class Mailbox;

  int patience();

  std::unique_ptr<uv_loop_s> uv_;
  core::TimePoint now_{};
  bool stopping_ = false;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<SocketSet> sockets_;
  std::unique_ptr<TimerPool> timers_;
};

}  // namespace weir::net
