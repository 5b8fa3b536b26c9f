#pragma once

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "weir/net/descriptor.h"
#include "weir/net/socket_address.h"

namespace weir::net {

inline SocketAddress address_of(const std::string& text) {
  const core::EndpointResult parsed = core::parse_endpoint(text);
  REQUIRE_MESSAGE(parsed.error.empty(), parsed.error);
  return SocketAddress::from(parsed.endpoint);
}

inline SocketAddress loopback(std::uint16_t port = 0, const char* host = "127.0.0.1") {
  core::Endpoint endpoint;
  endpoint.host = host;
  endpoint.port = port;
  return SocketAddress::from(endpoint);
}

// The other side of a connection, played by the test with plain blocking calls. Nothing waits
// longer than twenty seconds.
class Peer {
 public:
  Peer() = default;
  explicit Peer(Descriptor descriptor) : descriptor_(std::move(descriptor)) {
    const timeval patience{20, 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }

  int fd() const { return descriptor_.get(); }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }

  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // What the kernel takes now, without waiting.
  std::size_t send_some(std::string_view text) {
    const ssize_t sent = ::send(fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }
  // Exactly `count` bytes, or what came before the end.
  std::string receive(std::size_t count) {
    std::string got(count, '\0');
    std::size_t have = 0;
    while (have < count) {
      const ssize_t more = ::recv(fd(), got.data() + have, count - have, 0);
      if (more <= 0) break;
      have += static_cast<std::size_t>(more);
    }
    got.resize(have);
    return got;
  }
  // What is there now, without waiting.
  std::string receive_some(std::size_t most = 256 * 1024) {
    std::string got(most, '\0');
    const ssize_t count = ::recv(fd(), got.data(), most, MSG_DONTWAIT);
    got.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return got;
  }

  // How it goes on: `end` for a FIN, `reset`, `bytes`, or `nothing` so far.
  std::string next(bool wait = true) {
    std::array<char, 1> byte{};
    const ssize_t count =
        ::recv(fd(), byte.data(), byte.size(), MSG_PEEK | (wait ? 0 : MSG_DONTWAIT));
    if (count > 0) return "bytes";
    if (count == 0) return "end";
    if (errno == ECONNRESET) return "reset";
    return errno == EAGAIN ? "nothing" : "failed";
  }

  void shut_write() { ::shutdown(fd(), SHUT_WR); }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    descriptor_.reset();
  }
  void close() { descriptor_.reset(); }

 private:
  Descriptor descriptor_;
};

inline void set_option(int fd, int level, int option, int value) {
  REQUIRE(::setsockopt(fd, level, option, &value, sizeof value) == 0);
}

inline int get_option(int fd, int level, int option) {
  int value = -1;
  socklen_t length = sizeof value;
  REQUIRE(::getsockopt(fd, level, option, &value, &length) == 0);
  return value;
}

// A port that is taken but refuses: bound, and nobody listens.
class Refusing {
 public:
  explicit Refusing(const SocketAddress& at = loopback())
      : descriptor_(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    REQUIRE(::bind(fd(), at.generic(), at.length()) == 0);
  }
  int fd() const { return descriptor_.get(); }
  SocketAddress address() const { return SocketAddress::local(fd()); }

 private:
  Descriptor descriptor_;
};

// A listening socket of a test.
class Backlog : public Refusing {
 public:
  explicit Backlog(const SocketAddress& at = loopback(), int length = 64) : Refusing(at) {
    REQUIRE(::listen(fd(), length) == 0);
  }
  Peer accept() {
    wait_at_most({20, 0});
    Descriptor accepted(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(accepted);
    return Peer(std::move(accepted));
  }
  // Whether somebody waits to be accepted.
  bool somebody_waits() {
    wait_at_most({0, 1});
    const Descriptor accepted(::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC));
    return static_cast<bool>(accepted);
  }

 private:
  void wait_at_most(timeval patience) {
    ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
};

// A blocking connect.
inline Peer connect_to(const SocketAddress& to) {
  Descriptor descriptor(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(descriptor.get(), to.generic(), to.length()) != 0) return Peer();
  return Peer(std::move(descriptor));
}

// Accepts no more: its queue holds one connection already, so that a further one hangs.
class BlackHole {
 public:
  explicit BlackHole(const SocketAddress& at = loopback())
      : listening_(at, 0), filler_(connect_to(listening_.address())) {
    REQUIRE(filler_);
  }
  SocketAddress address() const { return listening_.address(); }
  Backlog& listening() { return listening_; }

 private:
  Backlog listening_;
  Peer filler_;
};

}  // namespace weir::net
