#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace weir::bench {

// Owns one file descriptor, or none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  void close();

 private:
  int number_ = -1;
};

// Edge-triggered readiness of a set of descriptors; each is known by the index it was added with.
class Poller {
 public:
  Poller();
  void add(int descriptor, std::uint32_t events, std::size_t index);
  // Empty after `patience` without an event; negative waits for ever. Valid until the next call.
  std::span<const epoll_event> wait(std::chrono::milliseconds patience);

 private:
  Descriptor set_;
  std::array<epoll_event, 256> events_{};
};

// Throws std::system_error naming `what` with the current errno.
[[noreturn]] void fail(const char* what);

// A nonblocking listening socket on a free port of 127.0.0.1, with TCP_NODELAY for what it accepts.
Descriptor listen_on_loopback();
std::uint16_t port_of(const Descriptor& listener);

// A nonblocking socket on its way to 127.0.0.1:`port`; empty, with errno, when it failed at once.
// `sequence` chooses one of several loopback source addresses: every closed connection leaves a
// TIME_WAIT behind for a minute, and a single address has only 28 000 ports for them.
Descriptor connect_to_loopback(std::uint16_t port, std::uint64_t sequence);

// Moves up to `bytes` of arbitrary content and returns how many; 0 is the end of the stream, -1
// with errno (EAGAIN included) is as for recv and send.
std::int64_t discard(const Descriptor& socket, std::uint64_t bytes);
std::int64_t send_filler(const Descriptor& socket, std::uint64_t bytes);

}  // namespace weir::bench
