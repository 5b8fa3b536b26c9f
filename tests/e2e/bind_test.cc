#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

namespace weir::e2e {
namespace {

net::SocketAddress unix_address(const std::string& path) {
  return net::SocketAddress::from({core::Endpoint::Kind::unix_path, path, {}, 0});
}

bool is_socket(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

// The text of a configuration with these binds before a service.
std::string yaml(const std::vector<std::string>& bind, const Service& service, int workers = 2) {
  return Setup{.workers = workers, .bind = bind, .backends = {service.address()}}.yaml();
}

Ended run_with(const Folder& folder, const std::string& text) {
  write_file(folder.file("second.yaml"), text);
  return run_weir({"-c", folder.file("second.yaml")});
}

void serves(const net::SocketAddress& address, At at = At::here()) {
  Stream client = Stream::connect(address, {}, at);
  ask(client, at);
}

TEST_CASE("bind: a unix path is there while weir serves, and gone after its exit") {
  const Folder folder;
  Service service;
  const std::string path = folder.file("front");
  ServingProgram weir({.yaml = yaml({"unix:" + path}, service)});
  CHECK(is_socket(path));
  serves(unix_address(path));
  for (const LogEntry& entry : weir.log(1)) CHECK(entry.client == "unix:");
  weir.program.signal(SIGTERM);
  weir.wait_for_clean_exit();
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("bind: a unix path that a killed weir left behind is taken over") {
  const Folder folder;
  Service service;
  const std::string path = folder.file("front");
  {
    const ServingProgram killed({.yaml = yaml({"unix:" + path}, service)});
    serves(unix_address(path));
  }
  CHECK(is_socket(path));
  ServingProgram weir({.yaml = yaml({"unix:" + path}, service)});
  serves(unix_address(path));
  weir.program.signal(SIGTERM);
  weir.wait_for_clean_exit();
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("bind: a unix path where somebody listens is not taken from them") {
  const Folder folder;
  Service service;
  const std::string path = folder.file("front");
  ServingProgram first({.yaml = yaml({"unix:" + path}, service)});
  const Ended second = run_with(folder, yaml({"unix:" + path}, service));
  CHECK(second.code == 1);
  CHECK(count_of(second.errors, "front: unix:" + path) == 1);
  CHECK(count_of(second.errors, "another process listens on this socket") == 1);
  CHECK(is_socket(path));
  serves(unix_address(path));
  first.program.signal(SIGTERM);
  first.wait_for_clean_exit();
}

TEST_CASE("bind: of two that start at once on one stale unix path, one serves") {
  Service service;
  for (int round = 0; round < 5; ++round) {
    const Folder folder;
    const std::string path = folder.file("front");
    {
      const PeerDescriptor stale(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const net::SocketAddress address = unix_address(path);
      REQUIRE(::bind(stale.get(), address.generic(), address.length()) == 0);
    }
    write_file(folder.file("weir.yaml"), "log: {access: off}\n" + yaml({"unix:" + path}, service));
    std::vector<std::unique_ptr<Program>> both;
    for (int i = 0; i < 2; ++i) {
      both.push_back(std::make_unique<Program>(
          Program::Options{.arguments = {"-c", folder.file("weir.yaml")}}));
    }
    const auto until = Clock::now() + patience();
    while (both[0]->running() && both[1]->running() && Clock::now() < until) silence(1ms);
    REQUIRE(both[0]->running() != both[1]->running());
    CHECK(both[both[0]->running() ? 1 : 0]->wait_for_exit() == 1);
    both[both[0]->running() ? 0 : 1]->wait_for_error_text("sessions at once");
    serves(unix_address(path));
  }
}

TEST_CASE("bind: a file that is no socket is left as it is") {
  const Folder folder;
  Service service;
  const std::string path = folder.file("front");
  write_file(path, "precious");
  const Ended refused = run_with(folder, yaml({"unix:" + path}, service));
  CHECK(refused.code == 1);
  CHECK(count_of(refused.errors, "not a socket") == 1);
  CHECK(read_file(path) == "precious");
}

TEST_CASE("bind: a unix path that somebody else has bound since stays at the exit") {
  const Folder folder;
  Service service;
  const std::string path = folder.file("front");
  ServingProgram weir({.yaml = yaml({"unix:" + path}, service)});
  std::filesystem::remove(path);
  const Backend newer("unix:" + path);
  weir.program.signal(SIGTERM);
  weir.wait_for_clean_exit();
  CHECK(is_socket(path));
}

TEST_CASE("bind: an IPv6 address alone") {
  Service service;
  const Port port;
  ServingProgram weir({.yaml = yaml({port.on("[::1]")}, service)});
  serves(port.address("[::1]"));
  CHECK_THROWS_AS(Stream::connect(port.address("127.0.0.1")), ScriptFailure);
  for (const LogEntry& entry : weir.log(1)) CHECK(entry.client.starts_with("[::1]:"));
  weir.program.wait_for_error_text("listening on " + port.on("[::1]"));
  weir.program.signal(SIGTERM);
  weir.wait_for_clean_exit();
}

void both_families(const std::vector<std::string>& bind, const Port& port) {
  Service service;
  ServingProgram weir({.yaml = yaml(bind, service, 4)});
  for (int i = 0; i < 10; ++i) {
    serves(port.address("127.0.0.1"));
    serves(port.address("[::1]"));
  }
  std::size_t ipv4 = 0;
  std::size_t ipv6 = 0;
  for (const LogEntry& entry : weir.log(20)) {
    if (entry.client.starts_with("127.0.0.1:")) ++ipv4;
    if (entry.client.starts_with("[::1]:")) ++ipv6;
  }
  CHECK(ipv4 == 10);
  CHECK(ipv6 == 10);
  weir.program.signal(SIGTERM);
  weir.wait_for_clean_exit();
}

TEST_CASE("bind: [::] alone takes IPv4 too, and its clients are logged as IPv4") {
  const Port port;
  both_families({port.on("[::]")}, port);
}

TEST_CASE("bind: 0.0.0.0 and [::] beside each other, in either order") {
  const Port port;
  both_families({port.on("0.0.0.0"), port.on("[::]")}, port);
  const Port other;
  both_families({other.on("[::]"), other.on("0.0.0.0")}, other);
}

TEST_CASE("bind: a second weir on a port exits with 1, and the first goes on") {
  const Folder folder;
  Service service;
  const Port port;
  ServingProgram first({.yaml = yaml({port.on()}, service)});
  Stream running = Stream::connect(port.address());
  ask(running);
  for (const std::string& bind : {port.on(), port.on("0.0.0.0"), port.on("[::]")}) {
    INFO(bind);
    const Ended second = run_with(folder, yaml({bind}, service));
    CHECK(second.code == 1);
    CHECK(count_of(second.errors, "listener front: " + bind + ": cannot bind") == 1);
    CHECK(count_of(second.errors, "exit_snapshot") == 0);
    ask(running);
    serves(port.address());
  }
  running.close();
  first.log(4);
  first.program.signal(SIGTERM);
  first.wait_for_clean_exit();
}

TEST_CASE("bind: when one of many addresses is taken, nothing is left of the others") {
  const Folder folder;
  Service service;
  const Port taken;
  const Port free;
  const ServingProgram first({.yaml = yaml({taken.on()}, service)});
  const std::string path = folder.file("front");
  const Ended second = run_with(folder, yaml({free.on(), "unix:" + path, taken.on()}, service));
  CHECK(second.code == 1);
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("bind: the port is free for another weir as soon as the first has gone") {
  Service service;
  const Port port;
  for (int round = 0; round < 3; ++round) {
    ServingProgram weir({.yaml = yaml({port.on()}, service)});
    Stream client = Stream::connect(port.address());
    ask(client);
    // Cut off by weir, whose end then waits in the kernel for a while.
    weir.program.signal(SIGTERM);
    client.close();
    weir.wait_for_clean_exit();
  }
}

}  // namespace
}  // namespace weir::e2e
