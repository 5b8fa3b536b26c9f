#include "weir/net/socket.h"

#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
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
    // A short read emptied the socket: whatever comes after it raises a new edge. Not so at TCP's
    // urgent mark and between a unix socket's messages, where reads stop short with more behind;
    // and an end that was announced already will not be announced again.
    if (bytes < into.size() && tcp_ && !slot.urgent && !slot.ended) slot.readable = false;
    return {IoResult::Status::done, bytes};
  }
  if (count == 0) {
    return {slot.error_taken ? IoResult::Status::failed : IoResult::Status::end, 0};
  }
  if (errno == EAGAIN) {
    slot.readable = false;
    return {IoResult::Status::blocked, 0};
  }
  return {IoResult::Status::failed, 0};
}

IoResult::Status Socket::peek() const {
  std::array<char, 1> first{};
  const ssize_t count = ::recv(fd(), first.data(), first.size(), MSG_PEEK);
  if (count > 0) return IoResult::Status::done;
  SocketSet::Slot& slot = set_->slot(slot_);
  if (count == 0) return slot.error_taken ? IoResult::Status::failed : IoResult::Status::end;
  if (errno == EAGAIN) return IoResult::Status::blocked;
  slot.error_taken = true;  // a reset is told once, even to who only looks
  return IoResult::Status::failed;
}

IoResult Socket::write(std::span<const char> from) {
  const ssize_t count = ::send(fd(), from.data(), from.size(), MSG_NOSIGNAL);
  if (count >= 0) {
    if (static_cast<std::size_t>(count) < from.size()) set_->slot(slot_).writable = false;
    return {IoResult::Status::done, static_cast<std::size_t>(count)};
  }
  if (errno == EAGAIN) {
    set_->slot(slot_).writable = false;
    return {IoResult::Status::blocked, 0};
  }
  // The kernel reports a reset once, to whoever comes first; after that a read says 0, as if the
  // peer had ended in good order. EPIPE means that it did, before it reset.
  if (errno != EPIPE) set_->slot(slot_).error_taken = true;
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

std::size_t Socket::room() const {
  std::array<std::uint32_t, SK_MEMINFO_VARS> accounts{};
  socklen_t length = sizeof accounts;
  if (!tcp_ || ::getsockopt(fd(), SOL_SOCKET, SO_MEMINFO, accounts.data(), &length) != 0) return 0;
  const std::uint32_t allowed = accounts[SK_MEMINFO_SNDBUF];
  const std::uint32_t used = accounts[SK_MEMINFO_WMEM_QUEUED];
  return allowed > used ? allowed - used : 0;
}

std::size_t Socket::unacknowledged() const {
  int bytes = 0;
  return ::ioctl(fd(), SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(std::max(bytes, 0)) : 0;
}

void Socket::hold_acknowledgements(bool hold) {
  const int quick = hold ? 0 : 1;
  ::setsockopt(fd(), IPPROTO_TCP, TCP_QUICKACK, &quick, sizeof quick);
}

void Socket::set_keepalive(const KeepaliveOptions& options) {
  if (!tcp_) return;
  const auto set = [this](int level, int option, int value) {
    ::setsockopt(fd(), level, option, &value, sizeof value);
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
