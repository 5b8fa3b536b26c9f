#include "weir/net/socket_set.h"

#include <sys/epoll.h>
#include <uv.h>

#include <cassert>
#include <cerrno>

#include "net/uv_handle.h"
#include "weir/net/loop.h"
#include "weir/net/run_queue.h"

namespace weir::net {
namespace {

// Events fetched by one call: enough to spread its cost, few enough that the slots of a batch stay
// in the cache.
constexpr std::size_t kBatch = 128;

// How long one turn may keep timers, posts and listening sockets waiting.
constexpr core::Duration kLongestTurn = std::chrono::milliseconds(1);

// Members of the run queue resumed between two fetches: a bulk copy moves at most a quarter of a
// MiB at a time, so that a small request waits for about half a millisecond of copying.
constexpr std::size_t kResumedBetweenFetches = 4;

std::uint64_t token(int index, std::uint32_t generation) {
  return (static_cast<std::uint64_t>(generation) << 32) | static_cast<std::uint32_t>(index);
}

}  // namespace

struct SocketSet::Handles {
  Handles(SocketSet& set, Loop& loop, int epoll)
      : poll(&set, "uv_poll_init",
             [&loop, epoll](uv_poll_t* handle) { return uv_poll_init(loop.uv(), handle, epoll); }),
        idle(&set, "uv_idle_init",
             [&loop](uv_idle_t* handle) { return uv_idle_init(loop.uv(), handle); }) {}
  UvHandle<uv_poll_t> poll;
  UvHandle<uv_idle_t> idle;
};

SocketSet::SocketSet(Loop& loop)
    : loop_(loop),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      events_(kBatch),
      run_queue_(std::make_unique<RunQueue>()) {
  if (!epoll_) require(-errno, "epoll_create1");
  handles_ = std::make_unique<Handles>(*this, loop, epoll_.get());
  require(uv_poll_start(handles_->poll.get(), UV_READABLE,
                        [](uv_poll_t* handle, int, int) {
                          if (handle->data != nullptr)
                            static_cast<SocketSet*>(handle->data)->turn();
                        }),
          "uv_poll_start");
}

SocketSet::~SocketSet() { assert(free_.size() == slots_.size() && "a socket outlived its set"); }

int SocketSet::add(int fd, SocketWatcher& watcher) {
  int index;
  if (free_.empty()) {
    index = static_cast<int>(slots_.size());
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Slot& added = slot(index);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token(index, added.generation);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    free_.push_back(index);
    return -1;
  }
  added.watcher = &watcher;
  added.readable = added.writable = added.ended = added.failed = false;
  return index;
}

void SocketSet::remove(int index) {
  Slot& removed = slot(index);
  removed.watcher = nullptr;
  ++removed.generation;
  free_.push_back(index);
}

int SocketSet::fetch_and_dispatch() {
  const int fetched =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
  if (fetched <= 0) return 0;
  for (int i = 0; i < fetched; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    const auto index = static_cast<int>(event.data.u64 & 0xffffffffU);
    Slot& ready = slot(index);
    if (ready.generation != static_cast<std::uint32_t>(event.data.u64 >> 32)) continue;
    if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ready.readable = true;
    if ((event.events & EPOLLOUT) != 0) ready.writable = true;
    if ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ready.ended = true;
    if ((event.events & (EPOLLHUP | EPOLLERR)) != 0) ready.failed = true;
    ready.watcher->on_ready();
  }
  return fetched;
}

void SocketSet::resume_later(Resumable& work) {
  run_queue_->push(work);
  if (!in_turn_) keep_loop_awake(true);
}

void SocketSet::turn() {
  in_turn_ = true;
  const core::TimePoint until = loop_.refresh_now() + kLongestTurn;
  for (;;) {
    const int dispatched = fetch_and_dispatch();
    const std::size_t resumed = run_queue_->run(kResumedBetweenFetches);
    if ((dispatched == 0 && resumed == 0) || loop_.refresh_now() >= until) break;
  }
  in_turn_ = false;
  keep_loop_awake(!run_queue_->empty());
}

void SocketSet::keep_loop_awake(bool awake) {
  if (awake == awake_) return;
  awake_ = awake;
  if (awake) {
    uv_idle_start(handles_->idle.get(), [](uv_idle_t* handle) {
      if (handle->data != nullptr) static_cast<SocketSet*>(handle->data)->turn();
    });
  } else {
    uv_idle_stop(handles_->idle.get());
  }
}

}  // namespace weir::net
