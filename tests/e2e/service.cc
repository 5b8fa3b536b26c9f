#include "tests/e2e/service.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

namespace weir::e2e {
namespace {

// Echoes what has come; answers how the connection ended, when it is over. Scripts say little
// enough at a time for the socket to take it.
std::optional<Ending> serve(int fd, bool& spoke) {
  std::array<char, 16384> bytes;
  for (;;) {
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (count <= 0) return count == 0 ? Ending::end : Ending::reset;
    spoke = true;
    if (::send(fd, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) != count) {
      return Ending::reset;
    }
  }
}

}  // namespace

Service::Service(Backend listening)
    : backend_(std::move(listening)),
      address_(backend_.address()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Service::~Service() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void Service::run() {
  for (;;) {
    std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}, {backend_.fd(), POLLIN, 0}};
    for (const Connection& each : connections_) {
      watched.push_back({each.descriptor.get(), POLLIN, 0});
    }
    ::poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) return;
    accept_all();
    serve_all();
    const std::lock_guard lock(mutex_);
    now_ = connections_.size();
    peak_ = std::max(peak_, now_);
  }
}

// Before serve_all(): a connection that ended before one of these began is then not counted with
// it.
void Service::accept_all() {
  for (;;) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    auto* address = reinterpret_cast<sockaddr*>(&peer);
    PeerDescriptor accepted(
        ::accept4(backend_.fd(), address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted) return;
    connections_.push_back({std::move(accepted)});
    const std::lock_guard lock(mutex_);
    peers_.push_back(net::SocketAddress::from(address, length));
  }
}

void Service::serve_all() {
  std::erase_if(connections_, [this](Connection& each) {
    const std::optional<Ending> ending = serve(each.descriptor.get(), each.spoke);
    if (!ending) return false;
    const std::lock_guard lock(mutex_);
    std::size_t& silent = *ending == Ending::end ? silent_ends_ : silent_resets_;
    ++(each.spoke ? spoke_ : silent);
    return true;
  });
}

std::size_t Service::accepted() const {
  const std::lock_guard lock(mutex_);
  return peers_.size();
}

std::size_t Service::connections() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::size_t Service::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

std::size_t Service::spoke() const {
  const std::lock_guard lock(mutex_);
  return spoke_;
}

std::size_t Service::silent(Ending ending) const {
  const std::lock_guard lock(mutex_);
  return ending == Ending::end ? silent_ends_ : silent_resets_;
}

std::vector<net::SocketAddress> Service::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

void ask(Stream& client, At at) {
  client.say("question", at);
  client.hear("question", at);
}

std::vector<std::unique_ptr<Service>> services(std::size_t count) {
  std::vector<std::unique_ptr<Service>> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(std::make_unique<Service>());
  return made;
}

std::vector<std::string> addresses_of(const std::vector<std::unique_ptr<Service>>& services) {
  std::vector<std::string> addresses;
  for (const auto& each : services) addresses.push_back(each->address());
  return addresses;
}

}  // namespace weir::e2e
