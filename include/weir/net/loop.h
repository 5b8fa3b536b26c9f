#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "weir/core/time.h"

struct uv_loop_s;

namespace weir::net {

class SocketSet;

// One thread's event loop: a libuv loop, the thread's clock, its sockets, and the mailbox that is
// the only way in from another thread. Everything else in `net` lives on one loop and must be
// destroyed before it, on its thread: the destructor asserts that no handle is left, so that every
// test that owns a loop is a leak test.
class Loop {
 public:
  using Task = std::function<void()>;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs on the calling thread until stop().
  void run();
  // Runs one turn, waiting for an event unless `wait` is false. For tests.
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
  uv_loop_s* uv() { return uv_.get(); }

 private:
  class Mailbox;

  std::unique_ptr<uv_loop_s> uv_;
  core::TimePoint now_{};
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<SocketSet> sockets_;
};

}  // namespace weir::net
