#include "weir/net/socket.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "weir/net/socket_set.h"

namespace weir::net {

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      set_(std::exchange(other.set_, nullptr)),
      slot_(std::exchange(other.slot_, -1)),
      tcp_(other.tcp_) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::move(other.descriptor_);
    set_ = std::exchange(other.set_, nullptr);
    slot_ = std::exchange(other.slot_, -1);
    tcp_ = other.tcp_;
  }
  return *this;
}

bool Socket::watch(SocketSet& set, SocketWatcher& watcher) {
  slot_ = set.add(fd(), watcher);
  if (slot_ < 0) return false;
  set_ = &set;
  return true;
}

void Socket::set_watcher(SocketWatcher& watcher) { set_->slot(slot_).watcher = &watcher; }

bool Socket::readable() const { return set_->slot(slot_).readable; }
bool Socket::writable() const { return set_->slot(slot_).writable; }
bool Socket::peer_ended() const { return set_->slot(slot_).ended; }
bool Socket::peer_failed() const { return set_->slot(slot_).failed; }

IoResult Socket::read(std::span<char> into) {
  const ssize_t count = ::recv(fd(), into.data(), into.size(), 0);
  SocketSet::Slot& slot = set_->slot(slot_);
  if (count > 0) {
    const auto bytes = static_cast<std::size_t>(count);
    // A short read emptied the socket: whatever comes after it raises a new edge. Only an end that
    // was announced already must be read out now, for it will not be announced again.
    if (bytes < into.size() && !slot.ended) slot.readable = false;
    return {IoResult::Status::done, bytes};
  }
  if (count == 0) return {IoResult::Status::end, 0};
  if (errno == EAGAIN || errno == EINTR) {
    slot.readable = errno == EINTR;
    return {IoResult::Status::blocked, 0};
  }
  return {IoResult::Status::failed, 0};
}

IoResult Socket::peek(std::span<char> into) {
  const ssize_t count = ::recv(fd(), into.data(), into.size(), MSG_PEEK);
  if (count > 0) return {IoResult::Status::done, static_cast<std::size_t>(count)};
  if (count == 0) return {IoResult::Status::end, 0};
  if (errno == EAGAIN || errno == EINTR) {
    set_->slot(slot_).readable = errno == EINTR;
    return {IoResult::Status::blocked, 0};
  }
  return {IoResult::Status::failed, 0};
}

void Socket::discard(std::span<char> peeked) {
  // On TCP, MSG_TRUNC takes bytes off the queue without copying them (tcp(7)).
  while (!peeked.empty()) {
    const ssize_t count = ::recv(fd(), peeked.data(), peeked.size(), MSG_TRUNC);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // cannot be: they were seen by peek()
    peeked = peeked.subspan(static_cast<std::size_t>(count));
  }
}

IoResult Socket::write(std::span<const char> from) {
  const ssize_t count = ::send(fd(), from.data(), from.size(), MSG_NOSIGNAL);
  if (count >= 0) {
    if (static_cast<std::size_t>(count) < from.size()) set_->slot(slot_).writable = false;
    return {IoResult::Status::done, static_cast<std::size_t>(count)};
  }
  if (errno == EAGAIN || errno == EINTR) {
    set_->slot(slot_).writable = errno == EINTR;
    return {IoResult::Status::blocked, 0};
  }
  return {IoResult::Status::failed, 0};
}

void Socket::shutdown_write() { ::shutdown(fd(), SHUT_WR); }

void Socket::abort() {
  const linger now{1, 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void Socket::close() {
  if (set_ != nullptr) std::exchange(set_, nullptr)->remove(std::exchange(slot_, -1));
  descriptor_.reset();
}

std::size_t Socket::unacknowledged() const {
  int bytes = 0;
  return ::ioctl(fd(), SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(std::max(bytes, 0)) : 0;
}

void apply_keepalive(int fd, const KeepaliveOptions& options) {
  const auto set = [fd](int level, int option, int value) {
    ::setsockopt(fd, level, option, &value, sizeof value);
  };
  const auto seconds = [](core::Duration duration) {
    return static_cast<int>(std::chrono::ceil<std::chrono::seconds>(duration).count());
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  if (options.idle.count() > 0) set(IPPROTO_TCP, TCP_KEEPIDLE, seconds(options.idle));
  if (options.interval.count() > 0) set(IPPROTO_TCP, TCP_KEEPINTVL, seconds(options.interval));
  if (options.count > 0) set(IPPROTO_TCP, TCP_KEEPCNT, options.count);
  if (options.user_timeout.count() > 0) {
    set(IPPROTO_TCP, TCP_USER_TIMEOUT,
        static_cast<int>(
            std::chrono::ceil<std::chrono::milliseconds>(options.user_timeout).count()));
  }
}

}  // namespace weir::net
