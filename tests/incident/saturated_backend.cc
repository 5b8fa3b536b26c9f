#include "tests/incident/saturated_backend.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace weir::e2e {

SaturatedBackend::SaturatedBackend(std::size_t hands, milliseconds service)
    : address_(backend_.address()),
      service_(service),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      free_(hands),
      thread_([this] { run(); }) {}

SaturatedBackend::~SaturatedBackend() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

std::size_t SaturatedBackend::accepted() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

void SaturatedBackend::run() {
  for (;;) {
    std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}, {backend_.fd(), POLLIN, 0}};
    for (const PeerDescriptor& each : silent_) watched.push_back({each.get(), POLLIN, 0});
    int wait_ms = -1;
    if (!queue_.empty()) {
      const auto left = std::chrono::ceil<milliseconds>(queue_.front().done - Clock::now()).count();
      wait_ms = static_cast<int>(std::max<std::int64_t>(left, 0));
    }
    ::poll(watched.data(), watched.size(), wait_ms);
    if (watched[0].revents != 0) return;
    accept_all();
    read_all();
    answer_all();
  }
}

void SaturatedBackend::accept_all() {
  for (;;) {
    PeerDescriptor accepted(
        ::accept4(backend_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted) return;
    silent_.push_back(std::move(accepted));
    const std::lock_guard lock(mutex_);
    ++accepted_;
  }
}

void SaturatedBackend::read_all() {
  std::vector<PeerDescriptor> still_silent;
  for (PeerDescriptor& each : silent_) {
    char request = 0;
    const ssize_t count = ::recv(each.get(), &request, 1, 0);
    if (count > 0) {
      schedule(std::move(each));
    } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      still_silent.push_back(std::move(each));
    }
  }
  silent_ = std::move(still_silent);
}

// The hand that is free first takes it.
void SaturatedBackend::schedule(PeerDescriptor client) {
  const auto hand = std::min_element(free_.begin(), free_.end());
  *hand = std::max(*hand, Clock::now()) + service_;
  queue_.push_back({std::move(client), *hand});
}

void SaturatedBackend::answer_all() {
  const auto now = Clock::now();
  for (; !queue_.empty() && queue_.front().done <= now; queue_.pop_front()) {
    [[maybe_unused]] const ssize_t ignored =
        ::send(queue_.front().client.get(), "a", 1, MSG_NOSIGNAL);
  }
}

}  // namespace weir::e2e
