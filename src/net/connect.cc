#include "weir/net/connect.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

namespace weir::net {
namespace {

using core::DialOutcome;
using core::DialResult;

DialResult classify(int error) {
  switch (error) {
    case ECONNREFUSED:
    case ENOENT:  // a unix path that nobody has bound
      return {DialOutcome::refused, false};
    case ECONNRESET:
    case EPIPE:
      return {DialOutcome::reset, false};
    case ETIMEDOUT:
      return {DialOutcome::timeout, false};
    case EADDRNOTAVAIL:
    case EADDRINUSE:
    case EAGAIN:  // no free local port, said by TCP
      return {DialOutcome::local_error, true};
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC:
      return {DialOutcome::local_error, false};
    default:
      return {DialOutcome::unreachable, false};
  }
}

ConnectState failed(int error) { return {ConnectState::Kind::failed, classify(error)}; }

// A connect to a port of this machine from which the kernel also takes local ports, with nobody
// listening there, may meet itself: the simultaneous open of RFC 9293 succeeds with both ends ours.
bool met_itself(const Socket& socket, const SocketAddress& to) {
  constexpr std::uint16_t kLowestEphemeral = 1024;  // the range is an administrator's to move
  if (to.port() < kLowestEphemeral) return false;
  const SocketAddress local = SocketAddress::local(socket.fd());
  if (local.port() != to.port()) return false;
  const auto ours = local.host_bytes();
  const auto theirs = to.host_bytes();
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end());
}

ConnectState connected(Socket& socket, const SocketAddress& to) {
  if (socket.is_tcp() && met_itself(socket, to)) {
    socket.abort();
    return failed(ECONNREFUSED);
  }
  return {ConnectState::Kind::connected, {}};
}

}  // namespace

ConnectState begin_connect(const SocketAddress& to, const SocketAddress& source,
                           const KeepaliveOptions& keepalive, Socket& socket) {
  const bool tcp = to.family() != AF_UNIX;
  Descriptor descriptor(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!descriptor) return failed(errno);
  if (tcp) {
    const int on = 1;
    ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    apply_keepalive(descriptor.get(), keepalive);
    if (source && source.family() == to.family()) {
      // The port is chosen by connect, which knows the peer: one local port serves many backends.
      ::setsockopt(descriptor.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
      if (::bind(descriptor.get(), source.generic(), source.length()) != 0) return failed(errno);
    }
  }
  const int status = ::connect(descriptor.get(), to.generic(), to.length());
  if (status != 0 && errno == EAGAIN && !tcp) return {ConnectState::Kind::full, {}};
  if (status != 0 && errno != EINPROGRESS) return failed(errno);
  socket = Socket(std::move(descriptor));
  socket.set_tcp(tcp);
  return status == 0 ? connected(socket, to) : ConnectState{ConnectState::Kind::pending, {}};
}

ConnectState continue_connect(Socket& socket, const SocketAddress& to) {
  if (!socket.peer_failed()) {
    if (socket.writable()) return connected(socket, to);
    return {ConnectState::Kind::pending, {}};
  }
  std::array<char, 1> first{};
  const ssize_t count = ::recv(socket.fd(), first.data(), first.size(), MSG_PEEK);
  if (count >= 0) return connected(socket, to);  // bytes, or an end in good order
  if (errno == EAGAIN) return {ConnectState::Kind::pending, {}};
  return failed(errno);
}

}  // namespace weir::net
