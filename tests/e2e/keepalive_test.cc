#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

namespace weir::e2e {
namespace {

// The socket of this process, weir's among them, whose other end has this address; -1 = none.
int socket_towards(const net::SocketAddress& peer) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    if (::getpeername(fd, address, &length) != 0) continue;
    if (net::SocketAddress::from(address, length).text() == peer.text()) return fd;
  }
  return -1;
}

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  ::getsockopt(fd, level, name, &value, &length);
  return value;
}

TEST_CASE("keepalive and the user timeout are set on both legs of a session that lasts") {
  Service service;
  TestWeir weir(Setup{.pool = "keepalive: {idle: 41s, interval: 7s, count: 4, user_timeout: 77s}",
                      .backends = {service.address()}}
                    .yaml());
  Stream client = weir.connect();
  ask(client);
  const std::array legs{
      socket_towards(client.local()),
      socket_towards(net::SocketAddress::from(core::parse_endpoint(service.address()).endpoint))};
  for (const int leg : legs) {
    CAPTURE(leg);
    REQUIRE(leg >= 0);
    for (const Stopwatch watch; option(leg, SOL_SOCKET, SO_KEEPALIVE) != 1;) {
      REQUIRE(watch.elapsed() < patience());
      silence(10ms);
    }
    CHECK(option(leg, IPPROTO_TCP, TCP_KEEPIDLE) == 41);
    CHECK(option(leg, IPPROTO_TCP, TCP_KEEPINTVL) == 7);
    CHECK(option(leg, IPPROTO_TCP, TCP_KEEPCNT) == 4);
    CHECK(option(leg, IPPROTO_TCP, TCP_USER_TIMEOUT) == 77000);
  }
  client.close();
  weir.expect_closed(core::CloseReason::client_closed);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
