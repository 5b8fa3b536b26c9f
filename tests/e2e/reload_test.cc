#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/e2e/service.h"
#include "tests/e2e/test_weir.h"
#include "tests/e2e/traffic.h"

// A reload changes what it says and nothing else: no client notices.
namespace weir::e2e {
namespace {

using core::CloseReason;

struct Layout {
  int workers = 1;
  std::vector<std::string> listeners = {"front"};  // each of its own port, to `servers`
  std::vector<std::string> backends;
  std::string more = {};  // further keys of the pool

  std::string yaml() const {
    std::string text = fmt::format("workers: {}\nlisteners:\n", workers);
    for (const std::string& name : listeners) {
      // The port of a listener is always the same one, so that it is the same address.
      text += fmt::format("  - {{name: {}, bind: [\"127.0.0.1:{}\"], pool: servers}}\n", name,
                          1000 + std::hash<std::string>()(name) % 50000);
    }
    text += "pools:\n  - name: servers\n" + more + "    backends:\n";
    for (std::size_t i = 0; i < backends.size(); ++i) {
      text += fmt::format("      - {{name: b{}, address: \"{}\"}}\n", i + 1, backends[i]);
    }
    return text;
  }
};

TEST_CASE("REL-01: reloads under traffic refuse nobody, reset nobody and keep what is open") {
  const auto servers = services(3);
  Layout layout{4, {"front"}, addresses_of(servers)};
  TestWeir weir(layout.yaml());
  const net::SocketAddress before = weir.address();
  Stream kept = weir.connect();
  ask(kept);
  Traffic traffic(weir.address(), 2);
  for (int i = 0; i < 10; ++i) {
    traffic.wait_for_served(30);
    layout.backends.resize(i % 2 == 0 ? 2 : 3, servers[2]->address());
    layout.more = fmt::format("    timeouts: {{connect: {}s}}\n", 1 + i);
    weir.reload(layout.yaml());
    ask(kept);
  }
  traffic.wait_for_served(30);
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  CHECK(weir.address().text() == before.text());
  ask(kept);
  kept.close();
  weir.settle();
}

TEST_CASE("a removed listener serves who waits in its queue, and is closed then") {
  const auto servers = services(1);
  Layout layout{2, {"front", "back"}, addresses_of(servers)};
  TestWeir weir(layout.yaml());
  Stream kept = Stream::connect(weir.address("back"));
  ask(kept);
  const net::SocketAddress gone = weir.address("back");
  layout.listeners = {"front"};
  std::vector<Stream> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(Stream::connect(gone));
  weir.reload(layout.yaml());
  for (Stream& client : waiting) {
    ask(client);
    client.close();
  }
  ask(kept);
  kept.close();
  weir.wait_until([](const admin::Snapshot& now) { return now.listeners.size() == 1; },
                  "the listener is forgotten");
  CHECK(weir.snapshot().sessions == 0);
}

TEST_CASE("a listener that is renamed keeps its sockets and whoever waits there") {
  const auto servers = services(1);
  const auto yaml = [&](const std::string& name) {
    return fmt::format(
        "workers: 2\nlisteners: [{{name: {}, bind: [\"unix:/tmp/weir-{}.sock\"], pool: "
        "servers}}]\npools: [{{name: servers, backends: [{{name: b1, address: \"{}\"}}]}}]\n",
        name, ::getpid(), servers[0]->address());
  };
  TestWeir weir(yaml("front"));
  Stream kept = weir.connect();
  ask(kept);
  const net::SocketAddress at = weir.address();
  weir.reload(yaml("back"));
  CHECK(weir.address("back").text() == at.text());
  Stream client = Stream::connect(at);
  ask(client);
  client.close();
  ask(kept);
  kept.close();
  weir.settle();
}

TEST_CASE("ST-01: a backend that is removed and comes back is the same while sessions live on it") {
  const auto servers = services(2);
  Layout both{2, {"front"}, addresses_of(servers), "    balance: first\n"};
  TestWeir weir(both.yaml());
  std::vector<Stream> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(weir.connect());
    ask(clients.back());
  }
  CHECK(weir.snapshot().backend("servers", "b1").active == 3);
  Layout without = both;
  without.backends = {servers[1]->address()};
  weir.reload(without.yaml());  // b1 is the second address now: another backend
  admin::Snapshot now = weir.snapshot();
  REQUIRE(now.pool("servers").backends.size() == 2);
  CHECK(now.pool("servers").backends[0].active == 0);
  CHECK(now.pool("servers").backends[1].removed);
  CHECK(now.pool("servers").backends[1].active == 3);
  CHECK(now.pool("servers").active == 3);
  weir.reload(both.yaml());
  now = weir.snapshot();
  REQUIRE(now.pool("servers").backends.size() == 2);
  CHECK(now.pool("servers").backends[0].active == 3);
  CHECK_FALSE(now.pool("servers").backends[0].removed);
  for (Stream& client : clients) {
    ask(client);
    client.close();
  }
  weir.wait_until(
      [](const admin::Snapshot& seen) { return seen.backend("servers", "b1").active == 0; },
      "b1 is left");
  weir.settle();
}

TEST_CASE("a bind that fails rejects the reload with its place, and nothing has changed") {
  const auto servers = services(1);
  const Backend other("127.0.0.1");
  Layout layout{2, {"front"}, addresses_of(servers)};
  TestWeir weir(layout.yaml());
  std::string bad = layout.yaml();
  const std::string unix_socket = "unix:/no-such-folder/x.sock";
  bad.replace(bad.find("127.0.0.1:"), bad.find("\"]") - bad.find("127.0.0.1:"), unix_socket);
  const admin::Reload reload = weir.try_reload(bad);
  CHECK_FALSE(reload.accepted);
  std::vector<config::Problem> errors = reload.problems;
  std::erase_if(errors, [](const config::Problem& problem) { return problem.warning; });
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].path == "listeners[0].bind[0]");
  CHECK(errors[0].line == 3);
  CHECK(errors[0].message.find("/no-such-folder") != std::string::npos);
  Stream client = weir.connect();
  ask(client);
  client.close();
  weir.settle();
}

TEST_CASE("a reload that is refused leaves no access log behind that was not there") {
  const auto servers = services(1);
  const Folder folder;
  Layout layout{2, {"front"}, addresses_of(servers)};
  TestWeir weir(layout.yaml());
  write_file(folder.file("old.log"), "");
  for (const char* name : {"new.log", "old.log"}) {
    const std::string log = fmt::format("log: {{access: {}}}\n", folder.file(name));
    std::string bad = log + layout.yaml();
    bad.replace(bad.find("127.0.0.1:"), bad.find("\"]") - bad.find("127.0.0.1:"),
                "unix:/no-such-folder/x.sock");
    CHECK_FALSE(weir.try_reload(bad).accepted);
  }
  CHECK_FALSE(std::filesystem::exists(folder.file("new.log")));
  CHECK(std::filesystem::exists(folder.file("old.log")));
  weir.settle();
}

TEST_CASE("a reload frees an access log from a pipe that nobody reads") {
  const auto servers = services(1);
  const Folder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const PeerDescriptor reader(
      ::open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const Layout layout{1, {"front"}, addresses_of(servers)};
  const auto logging_to = [&](const std::string& name) {
    return fmt::format("log: {{access: {}}}\n", folder.file(name)) + layout.yaml();
  };
  TestWeir weir(logging_to("pipe"));
  const auto serve_one = [&weir] {
    Stream client = weir.connect();
    ask(client);
  };
  const auto full = [&folder] {
    const PeerDescriptor writer(
        ::open(folder.file("pipe").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    pollfd room{writer.get(), POLLOUT, 0};
    return ::poll(&room, 1, 0) == 0;
  };
  std::size_t served = 0;
  for (; !full(); ++served) {
    REQUIRE(served < 2000);
    serve_one();
  }
  for (int i = 0; i < 50; ++i, ++served) serve_one();
  CHECK(weir.reload(logging_to("file")).accepted);
  const auto lines = [&] { return count_of(read_file(folder.file("file")), "\n"); };
  const auto wait_for = [&](std::size_t count) {
    for (const auto until = Clock::now() + patience(); lines() < count && Clock::now() < until;) {
      silence(2ms);
    }
  };
  wait_for(40);
  std::string in_pipe(1 << 20, '\0');
  const ssize_t size = ::read(reader.get(), in_pipe.data(), in_pipe.size());
  REQUIRE(size > 0);
  in_pipe.resize(static_cast<std::size_t>(size));
  const std::size_t rest = served - count_of(in_pipe, "\n");
  wait_for(rest);
  CHECK(lines() == rest);
  CHECK(rest > 40);
  CHECK(weir.snapshot().access_log_dropped == 0);
}

}  // namespace
}  // namespace weir::e2e
