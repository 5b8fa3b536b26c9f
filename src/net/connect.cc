#include "weir/net/connect.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

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

// The range from which the kernel takes local ports, as it was when first asked.
std::pair<int, int> local_port_range() {
  static const std::pair<int, int> range = [] {
    std::pair<int, int> read{1024, 65535};
    if (std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range"); file) {
      file >> read.first >> read.second;
    }
    return read;
  }();
  return range;
}

// A connect to a port of this machine from which the kernel also takes local ports, with nobody
// listening there, may meet itself: the simultaneous open of RFC 9293 succeeds with both ends ours.
bool met_itself(const Socket& socket, const SocketAddress& to) {
  const auto [lowest, highest] = local_port_range();
  if (to.port() < lowest || to.port() > highest) return false;
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

ConnectState begin_connect(const SocketAddress& to, const ConnectOptions& options, Socket& socket) {
  const bool tcp = to.family() != AF_UNIX;
  Socket opened(Descriptor(::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
  if (!opened) return failed(errno);
  opened.set_tcp(tcp);
  if (tcp) {
    const int on = 1;
    ::setsockopt(opened.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(opened.fd(), SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
    if (options.data_follows || options.reset_follows) opened.hold_acknowledgements(true);
    const SocketAddress& source = options.source;
    if (source && source.family() != to.family()) return failed(EAFNOSUPPORT);
    if (source) {
      // The port is chosen by connect, which knows the peer: one local port serves many backends.
      ::setsockopt(opened.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
      if (::bind(opened.fd(), source.generic(), source.length()) != 0) return failed(errno);
    }
  }
  const int status = ::connect(opened.fd(), to.generic(), to.length());
  if (status != 0 && errno == EAGAIN && !tcp) return {ConnectState::Kind::full, {}};
  if (status != 0 && errno != EINPROGRESS) return failed(errno);
  socket = std::move(opened);
  return status == 0 ? connected(socket, to) : ConnectState{ConnectState::Kind::pending, {}};
}

namespace {

// Reset, refused or unreachable; or it was connected and has ended since, which a dial survives.
ConnectState connected_or_failed(Socket& socket, const SocketAddress& to) {
  switch (socket.peek()) {
    case IoResult::Status::done:
    case IoResult::Status::end:  // in good order
      return connected(socket, to);
    case IoResult::Status::blocked:
      return {ConnectState::Kind::pending, {}};
    case IoResult::Status::failed:
      break;
  }
  return failed(errno);
}

}  // namespace

ConnectState continue_connect(Socket& socket, const SocketAddress& to) {
  if (socket.peer_failed()) return connected_or_failed(socket, to);
  if (socket.writable()) return connected(socket, to);
  return {ConnectState::Kind::pending, {}};
}

ConnectState ask_connect(Socket& socket, const SocketAddress& to) {
  pollfd asked{socket.fd(), POLLOUT, 0};
  if (::poll(&asked, 1, 0) <= 0) return {ConnectState::Kind::pending, {}};
  if ((asked.revents & (POLLERR | POLLHUP)) != 0) return connected_or_failed(socket, to);
  return connected(socket, to);
}

}  // namespace weir::net
