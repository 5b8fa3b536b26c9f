#include "backend.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <vector>

#include "message.h"
#include "sockets.h"

namespace weir::bench {
namespace {

using std::chrono::milliseconds;

// One accepted connection and where it is in its current exchange: header, body, answer.
class Exchange {
 public:
  explicit Exchange(Descriptor socket) : socket_(std::move(socket)) {}

  // Goes as far as the socket lets it. False at the end of the connection, clean or not: what an
  // end means is the client's to judge.
  bool advance() {
    for (;;) {
      const std::int64_t moved = step();
      if (moved == 0) return false;
      if (moved < 0) return errno == EAGAIN || errno == EINTR;
    }
  }

 private:
  // One system call of the phase that is due.
  std::int64_t step() {
    if (header_bytes_ < kHeaderBytes) return read_header();
    if (message_.body > 0) return count_down(message_.body, discard(socket_, message_.body));
    const std::int64_t sent = count_down(message_.answer, send_filler(socket_, message_.answer));
    if (message_.answer == 0) header_bytes_ = 0;
    return sent;
  }

  std::int64_t read_header() {
    const std::int64_t got =
        recv(socket_.number(), header_.data() + header_bytes_, kHeaderBytes - header_bytes_, 0);
    if (got > 0) header_bytes_ += static_cast<std::size_t>(got);
    if (header_bytes_ == kHeaderBytes) message_ = decode(header_);
    return got;
  }

  static std::int64_t count_down(std::uint64_t& left, std::int64_t moved) {
    if (moved > 0) left -= static_cast<std::uint64_t>(moved);
    return moved;
  }

  Descriptor socket_;
  Header header_{};
  std::size_t header_bytes_ = 0;
  Message message_;
};

class Backend {
 public:
  explicit Backend(std::size_t listeners) {
    poller_.add(STDIN_FILENO, EPOLLIN, kStandardInput);
    for (std::size_t i = 0; i < listeners; ++i) {
      listeners_.push_back(listen_on_loopback());
      watch(listeners_.back(), EPOLLIN);
    }
  }

  void announce() const {
    std::vector<int> ports;
    for (const Descriptor& listener : listeners_) ports.push_back(port_of(listener));
    fmt::print("{{\"ports\": [{}]}}\n", fmt::join(ports, ", "));
    std::fflush(stdout);
  }

  void serve() {
    for (;;) {
      for (const epoll_event& event : poller_.wait(milliseconds(-1))) {
        const std::size_t index = static_cast<std::size_t>(event.data.u64);
        if (index == kStandardInput) return;
        if (const Descriptor* listener = listener_at(index)) {
          accept_all(*listener);
        } else if (exchanges_[index] && !exchanges_[index]->advance()) {
          exchanges_[index].reset();
        }
      }
    }
  }

 private:
  // Everything is indexed by its descriptor number. A number may be closed and reused while an
  // event for it is still in hand; that one then only finds nothing to do.
  static constexpr std::size_t kStandardInput = STDIN_FILENO;

  void watch(const Descriptor& descriptor, std::uint32_t events) {
    const std::size_t index = static_cast<std::size_t>(descriptor.number());
    if (exchanges_.size() <= index) exchanges_.resize(index + 1);
    poller_.add(descriptor.number(), events, index);
  }

  const Descriptor* listener_at(std::size_t index) const {
    for (const Descriptor& listener : listeners_) {
      if (static_cast<std::size_t>(listener.number()) == index) return &listener;
    }
    return nullptr;
  }

  void accept_all(const Descriptor& listener) {
    for (;;) {
      Descriptor client(accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (client.number() < 0) {
        if (errno == EAGAIN) return;
        if (errno == ECONNABORTED || errno == EINTR) continue;
        fail("accept4");
      }
      watch(client, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
      const std::size_t index = static_cast<std::size_t>(client.number());
      exchanges_[index].emplace(std::move(client));
    }
  }

  Poller poller_;
  std::vector<Descriptor> listeners_;
  std::vector<std::optional<Exchange>> exchanges_;
};

}  // namespace

void run_backend(std::size_t listeners) {
  Backend backend(listeners);
  backend.announce();
  backend.serve();
}

}  // namespace weir::bench
