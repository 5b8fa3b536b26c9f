#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/reloaded_program.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"

// Addresses that come, go and change hands, on the ports of a program, with clients at them.
namespace weir::e2e {
namespace {

net::SocketAddress unix_address(const std::string& path) {
  return net::SocketAddress::from({core::Endpoint::Kind::unix_path, path, {}, 0});
}

// Two listeners with a pool each, so that it shows which of them a client came through.
struct Stage {
  explicit Stage(int workers) : text{workers, {}, {}, ""} {
    text.listeners = {{"front", {first.on()}, "one", ""}, {"back", {second.on()}, "two", ""}};
    text.pools = {{"one", backends_at({one.address()}), "", ""},
                  {"two", backends_at({two.address()}), "", ""}};
  }
  ConfigText without_back() const {
    ConfigText less = text;
    less.listeners.pop_back();
    return less;
  }

  const Port first;
  const Port second;
  Service one;
  Service two;
  ConfigText text;
};

void serves(const net::SocketAddress& address, At at = At::here()) {
  Stream client = Stream::connect(address, {}, at);
  ask(client, at);
}

bool refuses(const net::SocketAddress& address) {
  try {
    Stream::connect(address);
    return false;
  } catch (const ScriptFailure&) {
    return true;
  }
}

// Clients that come to both while weir stands still, so that they wait when it goes on, and are
// told nothing of what has changed meanwhile.
std::vector<Stream> come_during(ReloadedProgram& weir, const ConfigText& next,
                                const std::vector<net::SocketAddress>& to, At at = At::here()) {
  std::vector<Stream> waiting;
  {
    const Program::Stopped stopped(weir.program(), at);
    for (int i = 0; i < 20; ++i) {
      for (const auto& address : to) {
        waiting.push_back(Stream::connect(address, {}, at));
        waiting.back().say("question", at);
      }
    }
    weir.send(next);
  }
  weir.wait_for_reload(at);
  return waiting;
}

void all_are_served(std::vector<Stream>& clients, At at = At::here()) {
  for (Stream& client : clients) {
    client.hear("question", at);
    client.close();
  }
}

TEST_CASE(
    "REL-01: a listener that a reload removes serves who waits there, and refuses who comes") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    ReloadedProgram weir(stage.text);
    const auto kept = listening_inodes(stage.first.number());
    Stream open = Stream::connect(stage.second.address());
    ask(open);
    auto waiting =
        come_during(weir, stage.without_back(), {stage.first.address(), stage.second.address()});
    all_are_served(waiting);
    weir.program().wait_for_error_text("listener back: closed");
    CHECK(listening_inodes(stage.second.number()).empty());
    CHECK(refuses(stage.second.address()));
    CHECK(listening_inodes(stage.first.number()) == kept);
    ask(open);
    open.close();
    const admin::Snapshot last = weir.end();
    CHECK(last.listener("front").accepted == 20);
    CHECK(weir.weir().log(41).size() == 41);
  }
}

TEST_CASE("REL-01: a listener that a reload adds serves at once, and the other keeps its sockets") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    ReloadedProgram weir(stage.without_back());
    const auto kept = listening_inodes(stage.first.number());
    CHECK(kept.size() == static_cast<std::size_t>(workers));
    CHECK(refuses(stage.second.address()));
    weir.reload(stage.text);
    serves(stage.second.address());
    CHECK(stage.two.accepted() == 1);
    CHECK(listening_inodes(stage.first.number()) == kept);
    CHECK(listening_inodes(stage.second.number()).size() == static_cast<std::size_t>(workers));
    weir.end();
  }
}

TEST_CASE("REL-01: a listener that is taken away and put back at once listens again") {
  for (const int workers : {1, 4}) {
    Stage stage(workers);
    ReloadedProgram weir(stage.text);
    for (int i = 0; i < 3; ++i) {
      weir.reload(stage.without_back());
      weir.reload(stage.text);
      serves(stage.second.address());
    }
    CHECK(stage.two.accepted() == 3);
    const admin::Snapshot last = weir.end();
    CHECK(last.listeners.size() == 2);
  }
}

TEST_CASE("REL-01: a listener with another name keeps its sockets and who waits there") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    ReloadedProgram weir(stage.text);
    const auto kept = listening_inodes(stage.second.number());
    Stream open = Stream::connect(stage.second.address());
    ask(open);
    ConfigText renamed = stage.text;
    renamed.listener("back").name = "rear";
    auto waiting = come_during(weir, renamed, {stage.second.address()});
    all_are_served(waiting);
    CHECK(listening_inodes(stage.second.number()) == kept);
    serves(stage.second.address());
    ask(open);
    const std::string came_from = open.local().text();
    open.close();
    for (const LogEntry& entry : weir.weir().log(22)) {
      if (entry.client == came_from) CHECK(entry.listener == "back");  // its name then
    }
    CHECK(stage.two.accepted() == 22);
    CHECK(weir.end().listener("rear").accepted >= 1);
  }
}

TEST_CASE(
    "REL-01: an address that goes to another listener keeps its sockets and who waits there") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    const Port third;
    stage.text.listener("back").bind.push_back(third.on());
    ReloadedProgram weir(stage.text);
    const auto kept = listening_inodes(third.number());
    ConfigText moved = stage.text;
    moved.listener("back").bind.pop_back();
    moved.listener("front").bind.push_back(third.on());
    auto waiting = come_during(weir, moved, {third.address(), stage.second.address()});
    all_are_served(waiting);
    CHECK(listening_inodes(third.number()) == kept);
    const std::size_t before = stage.one.accepted();
    serves(third.address());
    CHECK(stage.one.accepted() == before + 1);
    weir.end();
  }
}

TEST_CASE("REL-01: two listeners that swap their addresses keep the sockets, and change pools") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    ReloadedProgram weir(stage.text);
    const auto first = listening_inodes(stage.first.number());
    const auto second = listening_inodes(stage.second.number());
    ConfigText swapped = stage.text;
    std::swap(swapped.listeners[0].bind, swapped.listeners[1].bind);
    for (const ConfigText& next : {swapped, stage.text, swapped}) {
      auto waiting = come_during(weir, next, {stage.first.address(), stage.second.address()});
      all_are_served(waiting);
      CHECK(listening_inodes(stage.first.number()) == first);
      CHECK(listening_inodes(stage.second.number()) == second);
    }
    const std::size_t before = stage.two.accepted();
    serves(stage.first.address());
    CHECK(stage.two.accepted() == before + 1);
    weir.end();
  }
}

// Some clients' first packet is dropped while the more special of two sockets is closed, and comes
// again a second later.
TEST_CASE("REL-01: one address becomes all addresses of its port, and back, under traffic") {
  for (const int workers : {1, 4}) {
    Stage stage(workers);
    ReloadedProgram weir(stage.text);
    ConfigText all = stage.text;
    all.listener("front").bind = {stage.first.on("0.0.0.0")};
    Traffic traffic(stage.first.address(), 4);
    const net::SocketAddress other = stage.first.address("127.0.0.2");
    for (int i = 0; i < 2; ++i) {
      traffic.wait_for_served(50);
      CHECK(refuses(other));
      weir.reload(all);
      serves(other);
      traffic.wait_for_served(50);
      weir.reload(stage.text);
    }
    traffic.wait_for_served(50);
    const Traffic::Tally tally = traffic.stop();
    CHECK(tally.ended == 0);
    CHECK(tally.reset == 0);
    weir.end();
  }
}

// The more special socket would take clients from the one that serves, and then go with them.
TEST_CASE("REL-01: a reload that is refused resets nobody, whatever it could have opened before") {
  Stage stage(4);
  stage.text.listener("front").bind = {stage.first.on("0.0.0.0")};
  const Backend other("127.0.0.1");
  ConfigText bad = stage.text;
  bad.listener("front").bind = {stage.first.on(), other.address()};
  ReloadedProgram weir(stage.text);
  const auto inodes = listening_inodes(stage.first.number());
  Traffic traffic(stage.first.address(), 4, 0ms);
  for (int i = 0; i < 100; ++i) weir.refused(bad);
  traffic.wait_for_served(50);
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  CHECK(listening_inodes(stage.first.number()) == inodes);
  weir.end();
}

TEST_CASE("REL-01: IPv6 beside IPv4 on one port comes and goes under traffic on the other") {
  for (const int workers : {1, 2}) {
    Stage stage(workers);
    const std::string v4 = stage.first.on("0.0.0.0");
    const std::string v6 = stage.first.on("[::]");
    const auto with = [&stage](const std::vector<std::string>& bind) {
      ConfigText text = stage.text;
      text.listener("front").bind = bind;
      return text;
    };
    const net::SocketAddress over_v6 = stage.first.address("[::1]");
    ReloadedProgram weir(with({v4}));
    {
      const auto kept = listening_inodes(stage.first.number());
      Traffic traffic(stage.first.address(), 2);
      for (int i = 0; i < 1; ++i) {
        traffic.wait_for_served(50);
        CHECK(refuses(over_v6));
        weir.reload(with({v4, v6}));
        serves(over_v6);
        CHECK(listening_inodes(stage.first.number()).size() == 2 * kept.size());
        traffic.wait_for_served(50);
        weir.reload(with({v4}));
      }
      traffic.wait_for_served(50);
      const Traffic::Tally tally = traffic.stop();
      CHECK(tally.ended + tally.reset == 0);
    }
    // Alone it takes IPv4 too, and is another socket then: traffic on the other again.
    weir.reload(with({v6}));
    serves(over_v6);
    serves(stage.first.address());
    Traffic traffic(over_v6, 2);
    traffic.wait_for_served(50);
    weir.reload(with({v6, v4}));
    serves(stage.first.address());
    traffic.wait_for_served(50);
    weir.reload(with({v6}));
    serves(stage.first.address());
    traffic.wait_for_served(50);
    const Traffic::Tally tally = traffic.stop();
    CHECK(tally.ended + tally.reset == 0);
    weir.end();
  }
}

TEST_CASE("REL-01: unix listeners are kept, removed with their files, and renamed") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    const Folder folder;
    stage.text.listeners[0].bind = {folder.unix_socket("front")};
    stage.text.listeners[1].bind = {folder.unix_socket("back")};
    const net::SocketAddress front = unix_address(folder.file("front"));
    const net::SocketAddress back = unix_address(folder.file("back"));
    ReloadedProgram weir(stage.text);
    Stream open = Stream::connect(back);
    ask(open);
    // Renamed: the same file, and who waits there is served.
    ConfigText renamed = stage.text;
    renamed.listener("back").name = "rear";
    auto waiting = come_during(weir, renamed, {front, back});
    all_are_served(waiting);
    serves(back);
    // Removed: who waits is served, the file is gone.
    waiting = come_during(weir, stage.without_back(), {front, back});
    all_are_served(waiting);
    CHECK_FALSE(std::filesystem::exists(folder.file("back")));
    CHECK(refuses(back));
    serves(front);
    // Back again at once, and at another path.
    weir.reload(stage.text);
    serves(back);
    ConfigText moved = stage.text;
    moved.listener("back").bind = {folder.unix_socket("elsewhere")};
    waiting = come_during(weir, moved, {back});
    all_are_served(waiting);
    CHECK_FALSE(std::filesystem::exists(folder.file("back")));
    serves(unix_address(folder.file("elsewhere")));
    ask(open);
    open.close();
    weir.end();
    CHECK_FALSE(std::filesystem::exists(folder.file("front")));
    CHECK_FALSE(std::filesystem::exists(folder.file("elsewhere")));
  }
}

TEST_CASE("REL-01: 300 clients a second meet ten reloads, and none of them notices") {
  Stage stage(4);
  Service more;
  ReloadedProgram weir(stage.text);
  const auto inodes = listening_inodes(stage.first.number());
  CHECK(inodes.size() == 4);
  std::vector<Stream> open;
  for (int i = 0; i < 20; ++i) {
    open.push_back(Stream::connect(stage.first.address()));
    ask(open.back());
  }
  Traffic traffic(stage.first.address(), 3, 10ms);
  const Stopwatch watch;
  for (int i = 0; i < 10; ++i) {
    ConfigText next = stage.text;
    PoolText& pool = next.pool("one");
    if (i % 2 == 0) pool.backends.push_back({"b2", more.address()});
    if (i % 3 == 0) next.listeners.pop_back();
    if (i % 4 == 0) pool.backends[0].keys = "weight: 3";
    if (i % 5 == 0) pool.resilience = "max_active_requests: 1000, max_pending_requests: 10";
    while (watch.elapsed() < 500ms * i) silence(5ms);
    traffic.wait_for_served(10);
    weir.reload(next);
    for (Stream& client : open) ask(client);
  }
  while (watch.elapsed() < 5s) silence(5ms);
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  CHECK(listening_inodes(stage.first.number()) == inodes);
  for (Stream& client : open) {
    ask(client);
    client.close();
  }
  const admin::Snapshot last = weir.end();
  CHECK(last.listener("front").accepted == tally.served + open.size());
  CHECK(stage.one.accepted() + more.accepted() == tally.served + open.size());
}

}  // namespace
}  // namespace weir::e2e
