#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/e2e/peer.h"

namespace weir::e2e {
namespace {

ScriptFailure failed(const char* what, At at = At::here()) {
  return {fmt::format("{}: {}", what, std::strerror(errno)), at};
}

net::SocketAddress bind_address(const std::string& host) {
  constexpr std::string_view kUnix = "unix:";
  core::Endpoint endpoint;
  if (host.starts_with(kUnix)) {
    endpoint = {core::Endpoint::Kind::unix_path, host.substr(kUnix.size()), {}, 0};
  } else {
    const bool ipv6 = host.find(':') != std::string::npos;
    endpoint = {ipv6 ? core::Endpoint::Kind::ipv6 : core::Endpoint::Kind::ipv4, host, {}, 0};
  }
  return net::SocketAddress::from(endpoint);
}

PeerDescriptor bound(const net::SocketAddress& address, bool again = false) {
  PeerDescriptor descriptor(
      ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!descriptor) throw failed("socket");
  const int reuse = again ? 1 : 0;
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (::bind(descriptor.get(), address.generic(), address.length()) != 0) throw failed("bind");
  return descriptor;
}

bool readable(int fd, milliseconds time) {
  pollfd ready{fd, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace

Backend::Backend(const std::string& host, Buffers buffers, int backlog)
    : descriptor_(bound(bind_address(host))) {
  const auto set = [this](int option, int bytes) {
    if (bytes > 0) ::setsockopt(descriptor_.get(), SOL_SOCKET, option, &bytes, sizeof bytes);
  };
  set(SO_RCVBUF, buffers.receive);  // inherited by what is accepted
  set(SO_SNDBUF, buffers.send);
  if (::listen(descriptor_.get(), backlog) != 0) throw failed("listen");
}

Backend::Backend(const net::SocketAddress& again) : descriptor_(bound(again, true)) {
  if (::listen(descriptor_.get(), kBacklog) != 0) throw failed("listen");
}

std::string Backend::address() const { return net::SocketAddress::local(descriptor_.get()).text(); }

Stream Backend::accept(At at) {
  const auto until = Clock::now() + patience();
  for (;;) {
    const int fd = ::accept4(descriptor_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) return {PeerDescriptor(fd), Stream::Role::backend};
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) throw failed("accept", at);
    if (Clock::now() >= until || !readable(descriptor_.get(), patience())) {
      throw ScriptFailure("no connection from weir", at);
    }
  }
}

bool Backend::has_waiting() const { return readable(descriptor_.get(), 0ms); }

void Backend::close() { descriptor_.close(); }

void Backend::fill_queue(At at) {
  filler_ = Stream::connect(net::SocketAddress::local(descriptor_.get()), {}, at).release();
}

void Backend::empty_queue(At at) {
  accept(at);
  filler_.close();
}

DeadPort::DeadPort() : descriptor_(bound(bind_address("127.0.0.1"))) {}

std::string DeadPort::address() const {
  return net::SocketAddress::local(descriptor_.get()).text();
}

}  // namespace weir::e2e
