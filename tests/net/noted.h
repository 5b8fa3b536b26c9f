#pragma once

#include <fcntl.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/net/peer.h"
#include "tests/net/turning.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"

namespace weir::net {

// A watcher that counts, and does what the test wants done.
struct Noted final : SocketWatcher {
  Noted() = default;
  explicit Noted(std::function<void()> action) : then(std::move(action)) {}
  void on_ready() override {
    ++times;
    if (then) then();
  }
  int times = 0;
  std::function<void()> then;
};

// Both ends of one connection: weir's socket, and the peer that the test plays.
struct Ends {
  Socket socket;
  Peer peer;
};

// `buffer` other than 0 makes the kernel's buffers small, both ways.
inline Ends tcp_ends(int buffer = 0) {
  Backlog listening;
  if (buffer != 0) set_option(listening.fd(), SOL_SOCKET, SO_RCVBUF, buffer);
  if (buffer != 0) set_option(listening.fd(), SOL_SOCKET, SO_SNDBUF, buffer);
  Descriptor ours(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (buffer != 0) set_option(ours.get(), SOL_SOCKET, SO_RCVBUF, buffer);
  if (buffer != 0) set_option(ours.get(), SOL_SOCKET, SO_SNDBUF, buffer);
  set_option(ours.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  const SocketAddress to = listening.address();
  REQUIRE(::connect(ours.get(), to.generic(), to.length()) == 0);
  REQUIRE(::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0);
  return {Socket(std::move(ours)), listening.accept()};
}

inline Ends unix_ends() {
  int both[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
  Ends ends{Socket(Descriptor(both[0])), Peer(Descriptor(both[1]))};
  REQUIRE(::fcntl(both[0], F_SETFL, O_NONBLOCK) == 0);
  ends.socket.set_tcp(false);
  return ends;
}

inline std::string read_text(Socket& socket, std::size_t most = 4096) {
  std::string text(most, '\0');
  const IoResult got = socket.read(text);
  text.resize(got.bytes);
  return text;
}

// A literal alone would be written with its closing 0.
inline IoResult write_text(Socket& socket, std::string_view text) { return socket.write(text); }

// Writes until the kernel takes no more; answers how much it took.
inline std::size_t fill(Socket& socket) {
  const std::string block(16 * 1024, 'x');
  std::size_t total = 0;
  while (socket.writable()) total += socket.write(block).bytes;
  return total;
}

}  // namespace weir::net
