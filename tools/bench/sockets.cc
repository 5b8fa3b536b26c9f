#include "sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

namespace weir::bench {
namespace {

constexpr int kBacklog = 4096;                  // above what any workload opens at a time
constexpr std::uint32_t kSourceAddresses = 16;  // 127.0.0.2 and the following ones

// As large as the largest buffer among the proxies, so that the load never sets the chunk size.
constexpr std::size_t kFillerBytes = 256 * 1024;

sockaddr_in loopback(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl((std::uint32_t{127} << 24) + host);
  address.sin_port = htons(port);
  return address;
}

// The socket calls take the general address type for every family.
sockaddr* general(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

void set_option(const Descriptor& socket, int level, int option) {
  const int on = 1;
  if (setsockopt(socket.number(), level, option, &on, sizeof on) != 0) fail("setsockopt");
}

std::vector<char>& filler() {
  static std::vector<char> bytes(kFillerBytes, 'w');
  return bytes;
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Poller::Poller() : set_(epoll_create1(EPOLL_CLOEXEC)) {
  if (set_.number() < 0) fail("epoll_create1");
}

void Poller::add(int descriptor, std::uint32_t events, std::size_t index) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.u64 = index;
  if (epoll_ctl(set_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

std::span<const epoll_event> Poller::wait(std::chrono::milliseconds patience) {
  const int limit = static_cast<int>(events_.size());
  const int timeout = static_cast<int>(patience.count());
  for (;;) {
    const int count = epoll_wait(set_.number(), events_.data(), limit, timeout);
    if (count >= 0) return {events_.data(), static_cast<std::size_t>(count)};
    if (errno != EINTR) fail("epoll_wait");
  }
}

void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

Descriptor listen_on_loopback() {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.number() < 0) fail("socket");
  set_option(listener, IPPROTO_TCP, TCP_NODELAY);
  sockaddr_in address = loopback(1, 0);
  if (bind(listener.number(), general(address), sizeof address) != 0) fail("bind");
  if (listen(listener.number(), kBacklog) != 0) fail("listen");
  return listener;
}

std::uint16_t port_of(const Descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(listener.number(), general(address), &size) != 0) fail("getsockname");
  return ntohs(address.sin_port);
}

Descriptor connect_to_loopback(std::uint16_t port, std::uint64_t sequence) {
  Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (client.number() < 0) fail("socket");
  set_option(client, IPPROTO_TCP, TCP_NODELAY);
  // Without this, bind reserves the port for the address alone and cannot reuse one in TIME_WAIT.
  set_option(client, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
  sockaddr_in source = loopback(2 + static_cast<std::uint32_t>(sequence % kSourceAddresses), 0);
  if (bind(client.number(), general(source), sizeof source) != 0) fail("bind");
  sockaddr_in target = loopback(1, port);
  const int result = connect(client.number(), general(target), sizeof target);
  if (result != 0 && errno != EINPROGRESS) return Descriptor();
  return client;
}

std::int64_t discard(const Descriptor& socket, std::uint64_t bytes) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kFillerBytes));
  return recv(socket.number(), filler().data(), size, 0);
}

std::int64_t send_filler(const Descriptor& socket, std::uint64_t bytes) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kFillerBytes));
  return send(socket.number(), filler().data(), size, MSG_NOSIGNAL);
}

}  // namespace weir::bench
