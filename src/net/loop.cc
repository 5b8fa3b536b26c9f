#include "weir/net/loop.h"

#include <uv.h>

#include <cassert>
#include <mutex>
#include <vector>

#include "net/timer_pool.h"
#include "net/uv_handle.h"
#include "weir/net/socket_set.h"
#include "weir/net/steady_clock.h"

namespace weir::net {

// The queue has a mutex of its own rather than relying on uv_async_send for order between threads:
// ThreadSanitizer cannot see into Debian's libuv, and a reader should not have to either.
class Loop::Mailbox {
 public:
  explicit Mailbox(Loop& loop)
      : loop_(loop), wake_(this, "uv_async_init", [&loop](uv_async_t* handle) {
          return uv_async_init(loop.uv(), handle, [](uv_async_t* woken) {
            if (woken->data != nullptr) static_cast<Mailbox*>(woken->data)->deliver();
          });
        }) {}

  void post(Task task) {
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      was_empty = tasks_.empty();
      tasks_.push_back(std::move(task));
    }
    if (was_empty) uv_async_send(wake_.get());
  }

 private:
  void deliver() {
    std::vector<Task> batch;
    {
      const std::lock_guard lock(mutex_);
      batch.swap(tasks_);
    }
    loop_.refresh_now();
    for (Task& task : batch) task();
  }

  Loop& loop_;
  std::mutex mutex_;  // guards tasks_, nothing else
  std::vector<Task> tasks_;
  UvHandle<uv_async_t> wake_;
};

Loop::Loop() : uv_(std::make_unique<uv_loop_t>()) {
  require(uv_loop_init(uv_.get()), "uv_loop_init");
  refresh_now();
  mailbox_ = std::make_unique<Mailbox>(*this);
  sockets_ = std::make_unique<SocketSet>(*this);
  timers_ = std::make_unique<TimerPool>(*this);
}

Loop::~Loop() {
  timers_.reset();
  sockets_.reset();
  mailbox_.reset();
  // Lets the close callbacks of what was destroyed run. Not UV_RUN_DEFAULT, which would wait for
  // ever on a handle that was forgotten.
  for (int rounds = 0; rounds < 4; ++rounds) uv_run(uv_.get(), UV_RUN_NOWAIT);
  [[maybe_unused]] const int left = uv_loop_close(uv_.get());
  assert(left == 0 && "a libuv handle outlived its loop");
}

void Loop::run() {
  stopping_ = false;
  while (!stopping_) run_once();
}

void Loop::run_once(bool wait) {
  const int wait_ms = wait && !sockets_->work_waits() ? patience() : 0;
  const bool libuv_ready = sockets_->turn(wait_ms);
  if (libuv_ready || patience() == 0) uv_run(uv_.get(), UV_RUN_NOWAIT);
}

void Loop::stop() { stopping_ = true; }

// How long libuv would wait for its next timer; 0 when it has something to do now.
int Loop::patience() {
  uv_update_time(uv_.get());
  return uv_backend_timeout(uv_.get());
}

void Loop::post(Task task) { mailbox_->post(std::move(task)); }

core::TimePoint Loop::refresh_now() {
  now_ = steady_now();
  return now_;
}

}  // namespace weir::net
