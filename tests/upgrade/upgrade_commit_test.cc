#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"

// Up to the word that it serves nobody is the new process's, however many sockets it has bound.
namespace weir::e2e {
namespace {

std::string yaml(const std::vector<std::string>& bind, const Service& service, int workers) {
  return Setup{.workers = workers, .bind = bind, .backends = {service.address()}}.yaml();
}

bool refused(const net::SocketAddress& to) {
  const PeerDescriptor client(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(client.get(), to.generic(), to.length()) != 0 && errno == ECONNREFUSED;
}

// The sockets that listen on the port, as the kernel has them.
std::size_t listening_on(const Port& port) {
  std::ifstream table("/proc/net/tcp");
  const std::string wanted = fmt::format(":{:04X} 00000000:0000 0A ", port.number());
  std::size_t found = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.find(wanted) != std::string::npos) ++found;
  }
  return found;
}

// A new process is stopped when it has bound its ports: the last of its addresses is a path in a
// folder whose lock the test has, for which it waits a moment.
class Stop {
 public:
  explicit Stop(At at = At::here())
      : lock_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (::flock(lock_.get(), LOCK_EX) != 0) throw ScriptFailure("no lock", at);
  }

  std::string on() const { return "unix:" + folder_.file("front"); }
  net::SocketAddress address() const {
    return net::SocketAddress::from(
        {core::Endpoint::Kind::unix_path, folder_.file("front"), {}, 0});
  }

  // Tells weir to upgrade, and answers the new process, which stands still.
  pid_t upgrade(Lineage& weir, At at = At::here()) const {
    const std::string before = weir.errors();
    weir.signal(weir.serving(at), SIGUSR2);
    const std::string started = " as process ";
    weir.wait_for_error_text(started, count_of(before, started) + 1, at);
    const std::string errors = weir.errors();
    const pid_t process = std::stoi(errors.substr(errors.rfind(started) + started.size()));
    for (const auto until = Clock::now() + patience(); !waits(process);) {
      if (Clock::now() >= until) throw ScriptFailure("it does not come to its last address", at);
    }
    weir.stop(process, at);
    return process;
  }
  void release() const { ::flock(lock_.get(), LOCK_UN); }

 private:
  bool waits(pid_t process) const {
    std::error_code gone;
    const std::filesystem::directory_iterator files(fmt::format("/proc/{}/fd", process), gone);
    return std::any_of(begin(files), end(files), [this](const auto& file) {
      std::error_code closed;
      return std::filesystem::read_symlink(file.path(), closed) == folder_.path();
    });
  }

  const Folder folder_;
  const PeerDescriptor lock_;
};

struct Story {
  explicit Story(int workers = 1)
      : weir({.yaml = yaml({stays.on()}, service, workers)}), session(connected()) {
    write_file(weir.first.config_file(),
               fmt::format("admin: {{socket: admin.sock}}\nhttp: {{listen: \"{}\"}}\n"
                           "log: {{access: \"access.log\"}}\n",
                           http.on()) +
                   yaml({stays.on(), comes.on(), stop.on()}, service, 4));
  }

  Stream connected(At at = At::here()) const {
    Stream client = Stream::connect(stays.address(), {}, at);
    ask(client, at);
    return client;
  }

  Service service;
  const Port stays;
  const Port comes;
  const Port http;
  const Stop stop;
  Lineage weir;
  Stream session;
};

TEST_CASE("upgrade: a new process with more workers that hangs before it serves loses nobody") {
  Story story;
  Traffic traffic(story.stays.address(), 4);
  traffic.wait_for_served(50);
  const pid_t hangs = story.stop.upgrade(story.weir);
  traffic.wait_for_served(200);
  CHECK(refused(story.comes.address()));
  CHECK(refused(story.http.address()));
  CHECK(listening_on(story.stays) == 1);
  story.weir.signal(hangs, SIGKILL);
  story.weir.wait_for_error_text("upgrade: failed, this process goes on");
  traffic.wait_for_served(50);
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  ask(story.session);
  story.session.close();
  story.weir.shut_down();
}

TEST_CASE("upgrade: once it serves each worker of the new process has a socket that listens") {
  Story story;
  Traffic traffic(story.stays.address(), 2);
  traffic.wait_for_served(20);
  const pid_t now = story.stop.upgrade(story.weir);
  story.stop.release();
  story.weir.signal(now, SIGCONT);
  story.weir.wait_for_error_text("took over");
  CHECK(listening_on(story.stays) == 4);
  CHECK(listening_on(story.comes) == 4);
  for (const auto& address : {story.comes.address(), story.stop.address()}) {
    for (int i = 0; i < 10; ++i) {
      Stream client = Stream::connect(address);
      ask(client);
    }
  }
  Stream scraper = Stream::connect(story.http.address());
  scraper.say("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  scraper.hear("HTTP/1.1 200 OK");
  traffic.wait_for_served(50);
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
}

TEST_CASE("upgrade: an address that is lost at the last moment is told of, and the others serve") {
  Story story;
  const pid_t now = story.stop.upgrade(story.weir);
  // Somebody else is bound there as well by now, and the first to listen has it.
  PeerDescriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(other.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const net::SocketAddress address = story.comes.address();
  REQUIRE(::bind(other.get(), address.generic(), address.length()) == 0);
  REQUIRE(::listen(other.get(), 8) == 0);
  ::setsockopt(other.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);  // no weir may join it
  story.stop.release();
  story.weir.signal(now, SIGCONT);
  story.weir.wait_for_error_text("took over");
  CHECK(count_of(story.weir.errors(),
                 story.comes.on() + ": cannot listen: Address already in use") == 1);
  CHECK(listening_on(story.comes) == 1);
  CHECK(story.weir.serving() == now);
  for (int i = 0; i < 10; ++i) story.connected();
  Stream client = Stream::connect(story.stop.address());
  ask(client);
  // It is no address of ours any more: a reload opens it once it can be had.
  story.weir.signal(now, SIGHUP);
  story.weir.wait_for_error_text(story.comes.on() + ": cannot bind");
  other.close();
  story.weir.admin("POST /v1/reload");
  Stream late = Stream::connect(story.comes.address());
  ask(late);
}

}  // namespace
}  // namespace weir::e2e
