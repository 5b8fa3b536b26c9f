#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weir/core/time.h"
#include "weir/net/descriptor.h"

struct epoll_event;

namespace weir::net {

class Loop;
class Resumable;
class RunQueue;

// Told when its socket became readable or writable, or when the peer ended or failed. What is
// ready is remembered by the set and read through the socket: an edge says only "look again".
class SocketWatcher {
 public:
  virtual void on_ready() = 0;

 protected:
  ~SocketWatcher() = default;
};

// All data sockets of one thread in one edge-triggered epoll set, which is what the thread waits
// in; the libuv loop is one member of it. One registration a socket for its whole life, no call to
// change interest, and a close that is an ordinary synchronous close (docs/adr/0002). An event
// fetched for a socket that was closed meanwhile is dropped by a generation check. Loop thread
// only.
class SocketSet {
 public:
  // A registration; the slot of a closed socket is used again under a new generation.
  struct Slot {
    SocketWatcher* watcher = nullptr;
    std::uint32_t generation = 0;
    bool readable = false;  // since the last read that would have blocked
    bool writable = false;  // since the last write that was cut short
    bool ended = false;   // the peer's FIN, reset or failure was seen: keep reading until it shows
    bool failed = false;  // reset or failure: nothing can be sent any more
    bool urgent = false;  // the peer has sent urgent data: a read stops short at its mark
    bool error_taken = false;  // a write or a look was told of the reset: reads will not be
  };

  explicit SocketSet(Loop& loop);
  ~SocketSet();
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  // Registers `fd` for good; answers the slot, or -1 with errno set (ENOSPC, ENOMEM).
  [[nodiscard]] int add(int fd, SocketWatcher& watcher);
  // Forgets the slot; the caller closes the descriptor, which ends the kernel's registration.
  void remove(int slot);
  Slot& slot(int index) { return slots_[static_cast<std::size_t>(index)]; }

  // Resumes `work` in a coming turn, after the sockets that are ready by then had theirs.
  void resume_later(Resumable& work);
  bool work_waits() const;

  // Waits up to `wait_ms` for events (-1 = without end), then dispatches and resumes until nothing
  // is left or the turn has lasted long enough. Answers whether libuv has work of its own.
  bool turn(int wait_ms);

 private:
  int fetch_and_dispatch(int wait_ms);
  bool resume_some();

  Loop& loop_;
  Descriptor epoll_;
  std::vector<Slot> slots_;
  std::vector<int> free_;
  std::vector<epoll_event> events_;
  std::unique_ptr<RunQueue> run_queue_;
  bool libuv_ready_ = false;
};

}  // namespace weir::net
