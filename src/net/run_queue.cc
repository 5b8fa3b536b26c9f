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

std::size_t RunQueue::run(std::size_t most) {
  std::size_t ran = 0;
  for (; ran < most && !empty(); ++ran) {
    Resumable& work = *anchor_.next_;
    work.unlink();
    work.resume();  // may destroy it, or queue it again at the tail
  }
  return ran;
}

}  // namespace weir::net
