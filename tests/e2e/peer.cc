#include "tests/e2e/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace weir::e2e {
namespace {

std::atomic<std::size_t> open_peers{0};

// A kernel that takes nothing for so long takes nothing more.
milliseconds blocked_after() { return slow() ? 1500ms : 150ms; }

std::string failure(const char* what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

void set_buffers(int fd, Buffers buffers) {
  const auto set = [fd](int option, int bytes) {
    if (bytes > 0) ::setsockopt(fd, SOL_SOCKET, option, &bytes, sizeof bytes);
  };
  set(SO_RCVBUF, buffers.receive);
  set(SO_SNDBUF, buffers.send);
}

int open_socket(int family, Buffers buffers, At at) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) throw ScriptFailure(failure("socket"), at);
  set_buffers(fd, buffers);
  return fd;
}

bool poll_for(int fd, short events, milliseconds time) {
  const auto until = Clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    pollfd ready{fd, events, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::max(left, 0ms).count()));
    if (count > 0) return true;
    if (count == 0 && Clock::now() >= until) return false;
  }
}

}  // namespace

PeerDescriptor::PeerDescriptor(int fd) : fd_(fd) {
  if (fd_ >= 0) ++open_peers;
}

PeerDescriptor::PeerDescriptor(PeerDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

PeerDescriptor& PeerDescriptor::operator=(PeerDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void PeerDescriptor::close() {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  --open_peers;
}

std::size_t PeerDescriptor::open() { return open_peers; }

Stream::Stream(PeerDescriptor descriptor, Role role)
    : descriptor_(std::move(descriptor)), role_(role), outgoing_(0), incoming_(0) {
  set_session(0);
}

Stream Stream::connect(const net::SocketAddress& to, Buffers buffers, At at) {
  PeerDescriptor descriptor(open_socket(to.family(), buffers, at));
  const auto until = Clock::now() + patience();
  bool reset_already = false;
  while (::connect(descriptor.get(), to.generic(), to.length()) != 0) {
    if (errno == EISCONN) break;
    // A unix listener whose queue is full does not say when there is room.
    if (errno == EAGAIN && Clock::now() < until) {
      silence(1ms);
      continue;
    }
    if (errno != EINPROGRESS) throw ScriptFailure(failure("connect"), at);
    if (!poll_for(descriptor.get(), POLLOUT, patience())) {
      throw ScriptFailure("weir did not answer a connect", at);
    }
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(descriptor.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    // Reset since, which was told by this call: the connection had been there.
    if (error == ECONNRESET) reset_already = true;
    errno = error;
    if (error != 0 && !reset_already) throw ScriptFailure(failure("connect"), at);
    break;
  }
  Stream stream(std::move(descriptor), Role::client);
  stream.reset_told_ = reset_already;
  return stream;
}

void Stream::set_session(std::uint64_t number) {
  const std::uint64_t from_client = 2 * number + 1;
  const std::uint64_t from_backend = 2 * number + 2;
  const bool client = role_ == Role::client;
  outgoing_ = Pattern(client ? from_client : from_backend);
  incoming_ = Pattern(client ? from_backend : from_client);
}

bool Stream::wait_for(short events, milliseconds time) const {
  return poll_for(fd(), events, time);
}

void Stream::say(std::string_view text, At at) { send_bytes(text, at); }

void Stream::send_bytes(std::string_view bytes, At at) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      throw ScriptFailure(failure("send"), at);
    } else if (!wait_for(POLLOUT, patience())) {
      throw ScriptFailure(fmt::format("nobody takes the {} bytes left to send", bytes.size()), at);
    }
  }
}

void Stream::send(std::uint64_t count, At at) {
  std::array<char, 16384> chunk;
  while (count > 0) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(count, chunk.size()));
    outgoing_.peek({chunk.data(), size});
    send_bytes({chunk.data(), size}, at);
    outgoing_.advance(size);
    count -= size;
  }
}

std::uint64_t Stream::send_until_blocked(std::uint64_t most, At at) {
  std::array<char, 16384> chunk;
  while (sent() < most) {
    outgoing_.peek(chunk);
    const ssize_t count = ::send(fd(), chunk.data(), chunk.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      outgoing_.advance(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      throw ScriptFailure(failure("send"), at);
    } else if (!wait_for(POLLOUT, blocked_after())) {
      return sent();
    }
  }
  throw ScriptFailure(fmt::format("{} bytes were taken although nobody reads them", sent()), at);
}

std::uint64_t Stream::send_until_reset(At at) {
  std::array<char, 4096> chunk;
  const auto until = Clock::now() + patience();
  while (Clock::now() < until) {
    outgoing_.peek(chunk);
    const ssize_t count = ::send(fd(), chunk.data(), chunk.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      outgoing_.advance(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      wait_for(POLLOUT, 10ms);
    } else if (errno == ECONNRESET) {
      return sent();
    } else if (errno != EINTR) {
      throw ScriptFailure(failure("expected a reset, but send"),
                          at);  // EPIPE: an end, then a reset
    }
  }
  throw ScriptFailure("the peer is still there", at);
}

bool Stream::try_send_byte() {
  std::array<char, 1> byte;
  outgoing_.peek(byte);
  if (::send(fd(), byte.data(), byte.size(), MSG_NOSIGNAL) == 1) {
    outgoing_.advance(1);
    return true;
  }
  return errno == EAGAIN || errno == EINTR;
}

std::ptrdiff_t Stream::read_some(std::span<char> into, At at) {
  for (;;) {
    const ssize_t count = ::recv(fd(), into.data(), into.size(), 0);
    if (count > 0) return count;
    if (count == 0) return reset_told_ ? -1 : 0;
    if (errno == ECONNRESET || errno == EPIPE) return -1;
    if (errno != EAGAIN && errno != EINTR) throw ScriptFailure(failure("recv"), at);
    if (!wait_for(POLLIN, patience())) {
      throw ScriptFailure(fmt::format("nothing came for {} ms, after {} bytes of the pattern",
                                      patience().count(), received()),
                          at);
    }
  }
}

void Stream::hear(std::string_view text, At at) {
  std::string heard(text.size(), '\0');
  for (std::size_t have = 0; have < heard.size();) {
    const std::ptrdiff_t count = read_some({heard.data() + have, heard.size() - have}, at);
    if (count <= 0) {
      throw ScriptFailure(fmt::format("expected '{}', got '{}' and then {}", text,
                                      heard.substr(0, have), count == 0 ? "an end" : "a reset"),
                          at);
    }
    have += static_cast<std::size_t>(count);
  }
  if (heard != text) {
    throw ScriptFailure(fmt::format("expected '{}', got '{}'", text, heard), at);
  }
}

bool Stream::hear_if_anything(std::string_view text, At at) {
  if (!wait_for(POLLIN, patience())) throw ScriptFailure("neither a byte nor an end", at);
  char first = 0;
  if (::recv(fd(), &first, 1, MSG_PEEK) == 0) return false;
  hear(text, at);
  return true;
}

Heard Stream::hear_or_ending(std::string_view text, At at) {
  if (!wait_for(POLLIN, patience())) throw ScriptFailure("neither a byte nor an end", at);
  char first = 0;
  // A peek that meets a reset uses it up.
  const ssize_t count = ::recv(fd(), &first, 1, MSG_PEEK);
  if (count == 0) return reset_told_ ? Heard::reset : Heard::end;
  if (count < 0) return Heard::reset;
  hear(text, at);
  return Heard::text;
}

void Stream::receive(std::uint64_t count, At at) {
  std::array<char, 65536> chunk;
  while (count > 0) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(count, chunk.size()));
    const std::ptrdiff_t got = read_some({chunk.data(), size}, at);
    if (got <= 0) {
      throw ScriptFailure(fmt::format("{} after {} bytes, with {} more expected",
                                      got == 0 ? "an end" : "a reset", received(), count),
                          at);
    }
    const auto bytes = static_cast<std::size_t>(got);
    if (incoming_.match({chunk.data(), bytes}) != bytes) {
      throw ScriptFailure(fmt::format("a wrong byte at {}", received()), at);
    }
    count -= bytes;
  }
}

Ending Stream::read_pattern_to_ending(std::size_t chunk_size, milliseconds pause, At at) {
  std::array<char, 65536> chunk;
  for (;;) {
    const std::ptrdiff_t got = read_some({chunk.data(), std::min(chunk_size, chunk.size())}, at);
    if (got <= 0) return got == 0 ? Ending::end : Ending::reset;
    const auto bytes = static_cast<std::size_t>(got);
    if (incoming_.match({chunk.data(), bytes}) != bytes) {
      throw ScriptFailure(fmt::format("a wrong byte at {}", received()), at);
    }
    if (pause > 0ms) silence(pause);
  }
}

std::uint64_t Stream::receive_to_end(At at) { return receive_slowly_to_end(65536, 0ms, at); }

std::uint64_t Stream::receive_slowly_to_end(std::size_t chunk, milliseconds pause, At at) {
  const std::uint64_t before = received();
  if (read_pattern_to_ending(chunk, pause, at) != Ending::end) {
    throw ScriptFailure(fmt::format("a reset after {} bytes, not an end", received() - before), at);
  }
  return received() - before;
}

std::uint64_t Stream::receive_to_reset(At at) {
  const std::uint64_t before = received();
  if (read_pattern_to_ending(65536, 0ms, at) != Ending::reset) {
    throw ScriptFailure(fmt::format("an end after {} bytes, not a reset", received() - before), at);
  }
  return received() - before;
}

Ending Stream::expect_ending(At at) {
  std::array<char, 64> bytes;
  const std::ptrdiff_t got = read_some(bytes, at);
  if (got > 0) throw ScriptFailure(fmt::format("{} bytes came before the end", got), at);
  return got == 0 ? Ending::end : Ending::reset;
}

void Stream::expect_end(At at) {
  if (expect_ending(at) != Ending::end) throw ScriptFailure("a reset, not an end", at);
}

void Stream::expect_reset(At at) {
  if (expect_ending(at) != Ending::reset) throw ScriptFailure("an end, not a reset", at);
}

bool Stream::has_ended() const {
  char byte = 0;
  return ::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void Stream::expect_silence(milliseconds duration, At at) {
  if (wait_for(POLLIN | POLLRDHUP, duration)) {
    throw ScriptFailure("something came, a byte or an end, where silence was expected", at);
  }
}

void Stream::shutdown_write() { ::shutdown(fd(), SHUT_WR); }

void Stream::rst() {
  const linger at_once{1, 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

std::size_t Stream::unread() const {
  int bytes = 0;
  return ::ioctl(fd(), SIOCINQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::size_t Stream::unacknowledged() const {
  int bytes = 0;
  return ::ioctl(fd(), SIOCOUTQ, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace weir::e2e
