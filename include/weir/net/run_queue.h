#pragma once

#include <cstddef>

namespace weir::net {

// Work that gave way so that others get their turn, resumed a little later in the order of asking.
class Resumable {
 public:
  virtual ~Resumable();
  virtual void resume() = 0;
  bool queued() const { return next_ != nullptr; }

 protected:
  Resumable() = default;
  Resumable(const Resumable&) = delete;
  Resumable& operator=(const Resumable&) = delete;

 private:
  friend class RunQueue;
  Resumable* next_ = nullptr;
  Resumable* previous_ = nullptr;
  void unlink();
};

// The thread's run queue: an intrusive list, so that queueing allocates nothing and a destroyed
// member takes itself out. Loop thread only.
class RunQueue {
 public:
  RunQueue();
  RunQueue(const RunQueue&) = delete;
  RunQueue& operator=(const RunQueue&) = delete;

  void push(Resumable& work);  // at the tail; a queued one keeps its place
  bool empty() const;
  // Resumes the member at the head; false when there is none.
  bool run_one();

 private:
  struct Anchor : Resumable {
    void resume() override {}
  };
  Anchor anchor_;  // the ring's fixed point: next_ is the head, previous_ the tail
};

}  // namespace weir::net
