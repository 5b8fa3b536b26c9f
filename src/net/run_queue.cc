#include "weir/net/run_queue.h"

namespace weir::net {

Resumable::~Resumable() {
  if (queued() && next_ != this) unlink();
}

void Resumable::unlink() {
  next_->previous_ = previous_;
  previous_->next_ = next_;
  next_ = previous_ = nullptr;
}

RunQueue::RunQueue() { anchor_.next_ = anchor_.previous_ = &anchor_; }

void RunQueue::push(Resumable& work) {
  if (work.queued()) return;
  work.next_ = &anchor_;
  work.previous_ = anchor_.previous_;
  anchor_.previous_->next_ = &work;
  anchor_.previous_ = &work;
}

bool RunQueue::empty() const { return anchor_.next_ == &anchor_; }

bool RunQueue::run_one() {
  if (empty()) return false;
  Resumable& work = *anchor_.next_;
  work.unlink();
  work.resume();  // may destroy it, or queue it again at the tail
  return true;
}

}  // namespace weir::net
