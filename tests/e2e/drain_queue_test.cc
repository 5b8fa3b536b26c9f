#include <doctest/doctest.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// What becomes of clients that come just as weir drains.
namespace weir::e2e {
namespace {

using core::CloseReason;

struct Seen {
  std::size_t served = 0;   // the echo, then an end
  std::size_t ended = 0;    // an end in good order
  std::size_t refused = 0;  // not connected
  std::size_t reset = 0;
};

// Connects, says something, and looks how it ends; like a real client it closes then.
void one_client(const net::SocketAddress& address, Seen& seen) {
  const PeerDescriptor client(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval bound{.tv_sec = slow() ? 80 : 8, .tv_usec = 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
  if (::connect(client.get(), address.generic(), address.length()) != 0) {
    ++seen.refused;
    return;
  }
  char byte = 'x';
  ::send(client.get(), &byte, 1, MSG_NOSIGNAL);
  const ssize_t got = ::recv(client.get(), &byte, 1, 0);
  if (got == 1) ++seen.served;
  if (got == 0) ++seen.ended;
  if (got < 0) ++seen.reset;
}

// Clients come without pause from several threads while weir is told to drain; none of them sees
// anything but service, an end in good order, or a refused connect.
void clients_during_a_drain(const std::string& bind, const net::SocketAddress& address,
                            const Service& service) {
  ServingProgram weir(
      {.yaml = "shutdown: {deadline: 60s}\n" +
               Setup{.workers = 4, .bind = {bind}, .backends = {service.address()}}.yaml()});
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> served{0};
  std::vector<std::future<Seen>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(meanwhile([&] {
      Seen seen;
      while (!stop && seen.refused == 0) {
        const std::size_t before = seen.served;
        one_client(address, seen);
        served += seen.served - before;
      }
      return seen;
    }));
  }
  for (const Stopwatch since_start; served < 50 && since_start.elapsed() < patience();)
    silence(1ms);
  weir.program.signal(SIGTERM);
  const admin::Snapshot last = weir.wait_for_clean_exit();
  stop = true;
  Seen all;
  for (auto& each : clients) {
    const Seen seen = each.get();
    all.served += seen.served;
    all.ended += seen.ended;
    all.refused += seen.refused;
    all.reset += seen.reset;
  }
  CHECK(all.reset == 0);
  CHECK(all.served >= 50);
  CHECK(last.listener("front").closed_as(CloseReason::shutdown) == all.ended);
  CHECK(last.listener("front").accepted == all.served + all.ended);
}

TEST_CASE("REL-02: clients that come during the drain are served, ended or refused, never reset") {
  Service service;
  for (int round = 0; round < 5; ++round) {
    const Port port;
    clients_during_a_drain(port.on(), port.address(), service);
  }
}

TEST_CASE("REL-02: the same through a unix socket") {
  Service service;
  for (int round = 0; round < 5; ++round) {
    const Folder folder;
    const std::string path = folder.file("front");
    clients_during_a_drain("unix:" + path,
                           net::SocketAddress::from({core::Endpoint::Kind::unix_path, path, {}, 0}),
                           service);
  }
}

// A weir that is stopped accepts nobody, so that a queue builds up in the kernel: all of those
// clients have connected, and have sent something.
TEST_CASE("REL-02: everybody who waits in an accept queue is accepted and ended in good order") {
  constexpr std::size_t kClients = 200;
  Service service;
  const Port port;
  ServingProgram weir(
      {.yaml = "shutdown: {deadline: 60s}\n" +
               Setup{.workers = 4, .bind = {port.on()}, .backends = {service.address()}}.yaml()});
  weir.program.signal(SIGSTOP);
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(Stream::connect(port.address()));
    clients.back().say("question");
  }
  weir.program.signal(SIGTERM);
  weir.program.signal(SIGCONT);
  std::size_t served = 0;
  for (Stream& client : clients) {
    if (client.hear_if_anything("question")) {
      ++served;
    } else {
      client.expect_end();
    }
    client.close();
  }
  const admin::Snapshot last = weir.wait_for_clean_exit();
  CHECK(last.listener("front").accepted == kClients);
  CHECK(last.listener("front").closed_as(CloseReason::shutdown) == kClients - served);
}

TEST_CASE("REL-02: those whom the descriptor limit keeps waiting are ended in good order too") {
  constexpr std::size_t kClients = 120;
  Service service;
  const Port port;
  const std::string yaml = "shutdown: {deadline: 60s}\n" +
                           Setup{.bind = {port.on()}, .backends = {service.address()}}.yaml();
  ServingProgram weir({.yaml = yaml, .program = {.descriptors = descriptor_limit_for(yaml, 5)}});
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(Stream::connect(port.address()));
    clients.back().say("question");
  }
  weir.program.wait_for_error_text("descriptor limit");
  weir.program.signal(SIGTERM);
  weir.program.wait_for_error_text("draining");
  std::size_t served = 0;
  for (Stream& client : clients) {
    if (client.hear_if_anything("question")) {
      ++served;
    } else {
      client.expect_end();
    }
    client.close();
  }
  const admin::Snapshot last = weir.wait_for_clean_exit();
  CHECK(last.listener("front").accepted == kClients);
  CHECK(last.listener("front").closed_as(CloseReason::shutdown) == kClients - served);
}

}  // namespace
}  // namespace weir::e2e
