#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/orders.h"
#include "tests/e2e/service.h"

// An operator who tells weir to shut down.
namespace weir::e2e {
namespace {

// How many of so many connects the kernel takes at once: on loopback a handshake is over when
// connect() returns, unless nobody listens any more.
int taken_at_once(const net::SocketAddress& address, int connects) {
  std::vector<PeerDescriptor> clients;
  int taken = 0;
  for (int i = 0; i < connects; ++i) {
    PeerDescriptor& client = clients.emplace_back(
        ::socket(address.generic()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (::connect(client.get(), address.generic(), address.length()) == 0) {
      ++taken;
      continue;
    }
    pollfd connected{client.get(), POLLOUT, 0};
    if (::poll(&connected, 1, 0) == 1 && (connected.revents & (POLLERR | POLLHUP)) == 0) ++taken;
  }
  return taken;
}

TEST_CASE("orders: when a shutdown returns, no worker takes a client any more") {
  for (const int workers : {1, 2, 4}) {
    const Service server;
    const Folder folder;
    ConfigText text{workers, {{}}, {{"servers", backends_at({server.address()})}}};
    text.listeners.push_back({"local", {folder.unix_socket("local")}});
    text.process = "shutdown: {deadline: 5s}\n";
    TestWeir weir(text.yaml());
    Stream kept = weir.connect();
    ask(kept);
    const net::SocketAddress front = weir.address();
    const net::SocketAddress local = weir.address("local");
    constexpr int kConnects = 32;  // the kernel spreads them over all workers
    int taken = -1;
    weir.control([&](admin::Control& control) {
      control.shut_down();
      taken = taken_at_once(front, kConnects) + taken_at_once(local, kConnects);
      CHECK(control.status().draining);
      control.shut_down();  // once more is nothing more
    });
    CHECK(taken == 0);
    ask(kept);
    kept.close();
    CHECK(weir.wait_for_exit() == 0);
  }
}

}  // namespace
}  // namespace weir::e2e
