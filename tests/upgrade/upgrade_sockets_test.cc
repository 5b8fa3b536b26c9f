#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"

// Every listening socket goes over with whoever waits in its queue.
namespace weir::e2e {
namespace {

std::string yaml(const std::vector<std::string>& bind, const Service& service, int workers = 2) {
  return Setup{.workers = workers, .bind = bind, .backends = {service.address()}}.yaml();
}

// What the file says from now on, for the next process.
void rewrite(const Lineage& weir, const std::string& text) {
  write_file(weir.first.config_file(),
             "admin: {socket: admin.sock}\nlog: {access: \"access.log\"}\n" + text);
}

net::SocketAddress unix_address(const std::string& path) {
  return net::SocketAddress::from({core::Endpoint::Kind::unix_path, path, {}, 0});
}

ino_t file_number(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode) ? found.st_ino : 0;
}

void serves(const net::SocketAddress& address, At at = At::here()) {
  Stream client = Stream::connect(address, {}, at);
  ask(client, at);
}

// Clients connect while nobody accepts: the process that serves is stopped, and has the order to
// upgrade when it goes on.
std::vector<Stream> clients_in_the_queues(Lineage& weir, const net::SocketAddress& address,
                                          std::size_t count) {
  weir.stop(weir.serving());
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(Stream::connect(address));
    clients.back().say("q");
  }
  return clients;
}

TEST_CASE("upgrade: from 4 workers to 1 and to 4 again, with clients in all accept queues") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml({port.on()}, service, 4)});
  Stream session = Stream::connect(port.address());
  ask(session);
  for (const int workers : {1, 4, 2, 1}) {
    rewrite(weir, yaml({port.on()}, service, workers));
    const pid_t before = weir.serving();
    std::vector<Stream> clients = clients_in_the_queues(weir, port.address(), 100);
    weir.signal(before, SIGUSR2);
    weir.signal(before, SIGCONT);
    for (Stream& client : clients) client.hear("q");
    weir.wait_until("GET /v1/status", [before, workers](const Json& status) {
      return status["pid"].count() != static_cast<std::uint64_t>(before) &&
             status["workers"].count() == static_cast<std::uint64_t>(workers);
    });
    for (int i = 0; i < 20; ++i) serves(port.address());
  }
  ask(session);
}

// The program is told to upgrade first, and everybody who comes then waits for the new one.
TEST_CASE("upgrade: who waits while both processes do nothing is served by the new one") {
  Service service;
  const Port port;
  const Folder gate;
  ProgramPath program;
  Lineage weir({.yaml = yaml({port.on()}, service, 4), .program = {.path = program.path()}});
  program.be_script(
      fmt::format("#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.01; done\nexec {} \"$@\"\n",
                  gate.file("open"), WEIR_BINARY));
  const pid_t before = weir.serving();
  weir.signal(before, SIGUSR2);
  weir.wait_for_error_text("upgrade: started");
  std::vector<Stream> clients = clients_in_the_queues(weir, port.address(), 200);
  write_file(gate.file("open"), "");
  weir.signal(before, SIGCONT);
  for (Stream& client : clients) client.hear("q");
  weir.wait_for_error_text("took over");
  clients.clear();
  weir.first.wait_for_clean_exit();
}

TEST_CASE("upgrade: addresses that are new are served, and those that are gone are served out") {
  Service service;
  const Port stays;
  const Port goes;
  const Port comes;
  Lineage weir({.yaml = yaml({stays.on(), goes.on()}, service, 4)});
  Stream session = Stream::connect(goes.address());
  ask(session);
  rewrite(weir, yaml({stays.on(), comes.on()}, service, 4));
  std::vector<Stream> clients = clients_in_the_queues(weir, goes.address(), 50);
  const pid_t before = weir.first.program.pid();
  weir.signal(before, SIGUSR2);
  weir.signal(before, SIGCONT);
  for (Stream& client : clients) {
    if (!client.hear_if_anything("q")) client.expect_end();
  }
  weir.wait_for_error_text("took over");
  serves(stays.address());
  serves(comes.address());
  // Refused, that is: nobody has kept the socket.
  const auto refused = [&] {
    const PeerDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const net::SocketAddress to = goes.address();
    return ::connect(client.get(), to.generic(), to.length()) != 0 && errno == ECONNREFUSED;
  };
  const Stopwatch since;
  while (!refused() && since.elapsed() < patience()) silence(1ms);
  CHECK(refused());
  ask(session);
  CHECK(count_of(weir.errors(), "no listener binds") == 0);  // it is no mistake
  session.close();
  clients.clear();
  CHECK(weir.wait_for_exit(before) == 0);
  serves(stays.address());
}

TEST_CASE("upgrade: an address goes from one listener to another") {
  Service service;
  const Port one;
  const Port two;
  const auto listeners = [&](const std::string& a, const std::string& b) {
    return fmt::format(
        "workers: 2\nlisteners:\n  - {{name: a, pool: servers, bind: [\"{}\"]}}\n"
        "  - {{name: b, pool: servers, bind: [\"{}\"]}}\n"
        "pools: [{{name: servers, backends: [{{name: b1, address: \"{}\"}}]}}]\n",
        a, b, service.address());
  };
  Lineage weir({.yaml = listeners(one.on(), two.on())});
  rewrite(weir, listeners(two.on(), one.on()));
  weir.upgrade();
  serves(one.address());
  CHECK(weir.first.log(1)[0].listener == "b");
  weir.shut_down();
}

TEST_CASE("upgrade: [::] beside 0.0.0.0 stays what it is") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml({port.on("0.0.0.0"), port.on("[::]")}, service, 2)});
  weir.upgrade();
  CHECK(count_of(weir.errors(), "no listener binds") == 0);
  for (int i = 0; i < 10; ++i) {
    serves(port.address("127.0.0.1"));
    serves(port.address("[::1]"));
  }
  weir.shut_down();
}

TEST_CASE("upgrade: unix paths are there at every moment, and after the old process has ended") {
  Service service;
  const Folder folder;
  const std::string front = folder.file("front");
  Lineage weir({.yaml = yaml({"unix:" + front}, service, 2)});
  const std::string admin = weir.socket();
  const ino_t front_file = file_number(front);
  const ino_t admin_file = file_number(admin);
  REQUIRE(front_file != 0);
  std::atomic<bool> stop{false};
  auto operators = meanwhile([&] {
    std::size_t asked = 0;
    for (; !stop; ++asked) serving_at(admin);
    return asked;
  });
  const std::shared_ptr<void> at_the_end(nullptr, [&stop](void*) { stop = true; });
  Traffic traffic(unix_address(front), 2);
  for (int round = 0; round < 3; ++round) {
    const pid_t before = weir.serving();
    weir.upgrade();
    traffic.wait_for_served(20);
    weir.wait_for_end(before);
    CHECK(file_number(front) == front_file);
    CHECK(file_number(admin) == admin_file);
    traffic.wait_for_served(20);
  }
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  stop = true;
  CHECK(operators.get() > 0);
  weir.shut_down();
  CHECK(file_number(front) == 0);
  CHECK(file_number(admin) == 0);
}

TEST_CASE("upgrade: a unix path that the new configuration does not have is removed, once") {
  Service service;
  const Folder folder;
  const std::string goes = folder.file("goes");
  const std::string comes = folder.file("comes");
  Lineage weir({.yaml = yaml({"unix:" + goes}, service)});
  rewrite(weir, yaml({"unix:" + comes}, service));
  weir.upgrade();
  weir.wait_for_end(weir.first.program.pid());
  CHECK(file_number(goes) == 0);
  serves(unix_address(comes));
  weir.shut_down();
}

TEST_CASE("upgrade: the admin socket has the mode that the new configuration gives it") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml({port.on()}, service)});
  const auto mode = [&] {
    struct stat found {};
    REQUIRE(::lstat(weir.socket().c_str(), &found) == 0);
    return found.st_mode & 07777;
  };
  CHECK(mode() == 0600);
  write_file(weir.first.config_file(),
             "admin: {socket: admin.sock, mode: \"0660\"}\nlog: {access: \"access.log\"}\n" +
                 yaml({port.on()}, service));
  weir.upgrade();
  weir.wait_for_error_text("took over");
  CHECK(mode() == 0660);
  weir.shut_down();
}

TEST_CASE("upgrade: http.listen is taken over, and scrapers do not notice") {
  Service service;
  const Port port;
  const Port http;
  Lineage weir(
      {.yaml = fmt::format("http: {{listen: \"{}\"}}\n", http.on()) + yaml({port.on()}, service)});
  const auto scrape = [&] {
    Stream scraper = Stream::connect(http.address());
    scraper.say("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    scraper.hear("HTTP/1.1 200 OK");
  };
  scrape();
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    for (int i = 0; i < 5; ++i) scrape();
  }
  CHECK(count_of(weir.errors(), "no listener binds") == 0);
}

}  // namespace
}  // namespace weir::e2e
