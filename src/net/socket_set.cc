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

// How long the run queue is worked on between two fetches: so long does a small request wait for
// bulk copies at the most, give or take one of them, which takes about 100 us.
constexpr core::Duration kLongestResume = std::chrono::microseconds(250);

// Stands for the libuv loop; no slot has this token, whose generation would have to wrap.
constexpr std::uint64_t kLibuv = ~std::uint64_t{0};

std::uint64_t token(int index, std::uint32_t generation) {
  return (static_cast<std::uint64_t>(generation) << 32) | static_cast<std::uint32_t>(index);
}

}  // namespace

SocketSet::SocketSet(Loop& loop)
    : loop_(loop),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      events_(kBatch),
      run_queue_(std::make_unique<RunQueue>()) {
  if (!epoll_) require(-errno, "epoll_create1");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kLibuv;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, uv_backend_fd(loop.uv()), &event) != 0) {
    require(-errno, "epoll_ctl");
  }
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
  event.events = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token(index, added.generation);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    free_.push_back(index);
    return -1;
  }
  added = {.watcher = &watcher, .generation = added.generation};
  return index;
}

void SocketSet::remove(int index) {
  Slot& removed = slot(index);
  removed.watcher = nullptr;
  ++removed.generation;
  free_.push_back(index);
}

int SocketSet::fetch_and_dispatch(int wait_ms) {
  const int fetched =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), wait_ms);
  loop_.refresh_now();
  int dispatched = 0;
  for (int i = 0; i < fetched; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.u64 == kLibuv) {
      libuv_ready_ = true;
      continue;
    }
    Slot& ready = slot(static_cast<int>(event.data.u64 & 0xffffffffU));
    if (ready.generation != static_cast<std::uint32_t>(event.data.u64 >> 32)) continue;
    if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ready.readable = true;
    if ((event.events & EPOLLOUT) != 0) ready.writable = true;
    if ((event.events & EPOLLPRI) != 0) ready.urgent = ready.readable = true;
    if ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) ready.ended = true;
    if ((event.events & (EPOLLHUP | EPOLLERR)) != 0) ready.failed = true;
    ready.watcher->on_ready();
    ++dispatched;
  }
  return dispatched;
}

void SocketSet::resume_later(Resumable& work) { run_queue_->push(work); }

bool SocketSet::work_waits() const { return !run_queue_->empty(); }

bool SocketSet::turn(int wait_ms) {
  libuv_ready_ = false;
  int dispatched = fetch_and_dispatch(wait_ms);
  const core::TimePoint until = loop_.now() + kLongestTurn;
  for (;;) {
    const bool resumed = resume_some();
    if ((dispatched == 0 && !resumed) || loop_.refresh_now() >= until) break;
    dispatched = fetch_and_dispatch(0);
  }
  return libuv_ready_;
}

bool SocketSet::resume_some() {
  if (!run_queue_->run_one()) return false;
  const core::TimePoint until = loop_.now() + kLongestResume;
  while (loop_.refresh_now() < until && run_queue_->run_one()) {
  }
  return true;
}

}  // namespace weir::net
