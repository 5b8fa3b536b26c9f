#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Who may connect, and how often, by the address they come from.
namespace weir::e2e {
namespace {

using core::CloseReason;

// All of 127/8 are addresses of this machine.
Stream connect_from(const char* source, const net::SocketAddress& to) {
  PeerDescriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, source, &address.sin_addr);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(descriptor.get(), generic, sizeof address) != 0 ||
      ::connect(descriptor.get(), to.generic(), to.length()) != 0) {
    throw ScriptFailure(fmt::format("connect from {}", source), At::here());
  }
  return Stream(std::move(descriptor), Stream::Role::client);
}

bool served(Stream client) {
  client.say("hello");
  const bool answered = client.hear_if_anything("hello");
  if (!answered) client.expect_end();
  client.close();
  return answered;
}

// No more than so many.
void wait_for_closed(const TestWeir& weir, CloseReason reason, std::uint64_t count) {
  const auto closed = [=](const admin::Snapshot& now) {
    return now.listener("front").closed_as(reason);
  };
  const auto then = weir.wait_until(
      [&](const admin::Snapshot& now) { return closed(now) >= count; }, "they are counted");
  CHECK(closed(then) == count);
}

net::SocketAddress at_port(core::Endpoint::Kind kind, const char* host, std::uint16_t port) {
  return net::SocketAddress::from({kind, host, {}, port});
}

TEST_CASE("access: who is not let in is closed in good order, and sees no backend") {
  for (const int workers : {1, 4}) {
    const Service service;
    Setup setup{.workers = workers,
                .listener = "allow: [127.0.0.0/28, \"::1\"], deny: [127.0.0.2]",
                .backends = {service.address()}};
    TestWeir weir(setup.yaml());
    CHECK(served(connect_from("127.0.0.1", weir.address())));
    CHECK_FALSE(served(connect_from("127.0.0.2", weir.address())));
    CHECK(served(connect_from("127.0.0.3", weir.address())));
    CHECK_FALSE(served(connect_from("127.0.0.16", weir.address())));
    CHECK(service.accepted() == 2);
    wait_for_closed(weir, CloseReason::access_denied, 2);
    weir.settle();
  }
}

TEST_CASE(
    "access: one through [::] is judged by the address it has, one through a unix socket not") {
  const Folder folder;
  const Service service;
  const std::string path = folder.file("front");
  Setup setup{.bind = {"[::]:1", "unix:" + path},
              .listener = "allow: [127.0.0.1]",
              .backends = {service.address()}};
  TestWeir weir(setup.yaml());
  const std::uint16_t port = weir.address().port();
  CHECK(served(Stream::connect(at_port(core::Endpoint::Kind::ipv4, "127.0.0.1", port))));
  CHECK_FALSE(served(Stream::connect(at_port(core::Endpoint::Kind::ipv6, "::1", port))));
  CHECK(served(Stream::connect(weir.address("front", 1))));
  weir.settle();
}

TEST_CASE("access: a reload opens and closes the door for those who come after it") {
  for (const int workers : {1, 4}) {
    const Service service;
    Setup setup{.workers = workers, .listener = "", .backends = {service.address()}};
    TestWeir weir(setup.yaml());
    Stream before = weir.connect();
    ask(before);
    setup.listener = "allow: [10.0.0.0/8]";
    weir.reload(setup.yaml());
    for (int i = 0; i < 20; ++i) CHECK_FALSE(served(weir.connect()));
    ask(before);  // runs on
    setup.listener = "allow: [10.0.0.0/8, 127.0.0.1]";
    weir.reload(setup.yaml());
    for (int i = 0; i < 20; ++i) CHECK(served(weir.connect()));
    before.close();
    weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "all have left");
    wait_for_closed(weir, CloseReason::access_denied, 20);
    weir.settle();
  }
}

TEST_CASE("access: each address has its own number of sessions, on all workers together") {
  for (const int workers : {1, 4}) {
    constexpr std::size_t kMost = 3;
    const Service service;
    Setup setup{.workers = workers,
                .listener = fmt::format("max_connections_per_source: {}", kMost),
                .backends = {service.address()}};
    TestWeir weir(setup.yaml());
    std::vector<Stream> open;
    for (const char* source : {"127.0.0.1", "127.0.0.2"}) {
      for (std::size_t i = 0; i < kMost; ++i) {
        open.push_back(connect_from(source, weir.address()));
        ask(open.back());
      }
      for (int i = 0; i < 5; ++i) CHECK_FALSE(served(connect_from(source, weir.address())));
    }
    open.front().close();
    weir.wait_until([&](const admin::Snapshot& now) { return now.sessions == 2 * kMost - 1; },
                    "one has left");
    CHECK_FALSE(served(connect_from("127.0.0.2", weir.address())));
    CHECK(served(connect_from("127.0.0.1", weir.address())));
    wait_for_closed(weir, CloseReason::source_limit, 11);
    // No bound, from now on.
    setup.listener = "";
    weir.reload(setup.yaml());
    CHECK(served(connect_from("127.0.0.2", weir.address())));
    for (Stream& each : open) each.close();
    weir.settle();
  }
}

TEST_CASE("access: who comes too fast is refused, and let in again when there is room") {
  constexpr int kRate = 2;
  const Service service;
  Setup setup{.workers = 4,
              .listener = fmt::format("max_connection_rate_per_source: {}", kRate),
              .backends = {service.address()}};
  TestWeir weir(setup.yaml());
  const Stopwatch since_first;
  int answered = 0;
  for (int i = 0; i < 50; ++i) answered += served(weir.connect()) ? 1 : 0;
  CHECK(answered >= kRate);
  CHECK(answered <= kRate + 1 + since_first.elapsed() * kRate / 1s);
  CHECK(served(connect_from("127.0.0.2", weir.address())));
  bool again = false;
  for (const Stopwatch since_refused; !again && since_refused.elapsed() < patience();) {
    again = served(weir.connect());
    silence(10ms);
  }
  CHECK(again);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
