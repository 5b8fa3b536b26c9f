#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

namespace weir::e2e {
namespace {

using core::CloseReason;

std::string yaml(int workers, const std::string& balance,
                 const std::vector<std::unique_ptr<Service>>& backends,
                 const std::vector<int>& weights = {}) {
  std::string text = fmt::format(R"(workers: {}
listeners:
  - {{name: front, bind: ["127.0.0.1:1"], pool: servers}}
pools:
  - name: servers
    balance: {}
    backends:
)",
                                 workers, balance);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    text += fmt::format("      - {{name: b{}, address: \"{}\", weight: {}}}\n", i + 1,
                        backends[i]->address(), weights.empty() ? 1 : weights[i]);
  }
  return text;
}

std::map<std::string, std::size_t> counts(const std::vector<LogEntry>& entries) {
  std::map<std::string, std::size_t> counted;
  for (const LogEntry& entry : entries) ++counted[entry.backend];
  return counted;
}

// One session after the other.
void come_and_go(const TestWeir& weir, std::size_t clients) {
  for (std::size_t i = 0; i < clients; ++i) {
    Stream client = weir.connect();
    ask(client);
  }
}

Stream held_session(const TestWeir& weir) {
  Stream client = weir.connect();
  ask(client);
  return client;
}

std::uint64_t active(const TestWeir& weir, const std::string& backend) {
  return weir.snapshot().backend("servers", backend).active;
}

void wait_for_active(const TestWeir& weir, const std::string& backend, std::uint64_t count) {
  weir.wait_until(
      [&](const admin::Snapshot& now) { return now.backend("servers", backend).active == count; },
      fmt::format("{} has {}", backend, count));
}

// A client that comes from a loopback address of its own.
Stream connect_from(const std::string& source, const net::SocketAddress& to) {
  PeerDescriptor descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto from =
      net::SocketAddress::from(core::Endpoint{core::Endpoint::Kind::ipv4, source, {}, 0});
  if (::bind(descriptor.get(), from.generic(), from.length()) != 0 ||
      ::connect(descriptor.get(), to.generic(), to.length()) != 0) {
    throw ScriptFailure("cannot connect from " + source, At::here());
  }
  return {std::move(descriptor), Stream::Role::client};
}

TEST_CASE("round_robin: weights are exact over a cycle, across workers") {
  const auto backends = services(3);
  for (const int workers : {1, 4}) {
    TestWeir weir(yaml(workers, "round_robin", backends, {5, 1, 2}));
    come_and_go(weir, 40);
    const auto counted = counts(weir.expect_closed(CloseReason::client_closed, 40));
    CHECK(counted.at("b1") == 25);
    CHECK(counted.at("b2") == 5);
    CHECK(counted.at("b3") == 10);
    weir.settle();
  }
}

TEST_CASE("round_robin: 200 clients at once on four workers are spread exactly") {
  const auto backends = services(4);
  TestWeir weir(yaml(4, "round_robin", backends));
  std::vector<Stream> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(weir.connect());
  for (Stream& client : clients) ask(client);
  for (const auto& each : backends) CHECK(each->accepted() == 50);
  for (Stream& client : clients) client.close();
  weir.expect_closed(CloseReason::client_closed, 200);
  weir.settle();
}

TEST_CASE("round_robin: a heavy backend's turns are spread over the cycle") {
  const auto backends = services(2);
  TestWeir weir(yaml(1, "round_robin", backends, {3, 2}));
  come_and_go(weir, 20);
  auto entries = weir.expect_closed(CloseReason::client_closed, 20);
  std::sort(entries.begin(), entries.end(),
            [](const LogEntry& a, const LogEntry& b) { return a.session < b.session; });
  int in_a_row = 0;
  for (const LogEntry& entry : entries) {
    in_a_row = entry.backend == "b1" ? in_a_row + 1 : 0;
    CHECK(in_a_row <= 2);
  }
  weir.settle();
}

TEST_CASE("least_connections: who has least is preferred") {
  const auto backends = services(2);
  TestWeir weir(yaml(2, "least_connections", backends));
  std::vector<Stream> held;
  for (int i = 0; i < 6; ++i) held.push_back(held_session(weir));
  CHECK(active(weir, "b1") == 3);
  CHECK(active(weir, "b2") == 3);
  for (Stream& client : held) client.close();
  wait_for_active(weir, "b1", 0);
  wait_for_active(weir, "b2", 0);
  held.clear();

  // One that stays on one of them: short ones all go to the other.
  held.push_back(held_session(weir));
  const bool first_has_it = active(weir, "b1") == 1;
  const std::string busy = first_has_it ? "b1" : "b2";
  const std::string idle = first_has_it ? "b2" : "b1";
  for (int i = 0; i < 4; ++i) {
    {
      Stream client = held_session(weir);
      CHECK(active(weir, idle) == 1);
      CHECK(active(weir, busy) == 1);
    }
    wait_for_active(weir, idle, 0);
  }
  held.clear();
  weir.expect_closed(CloseReason::client_closed, 11);
  weir.settle();
}

TEST_CASE("least_connections: sessions that stay are in proportion to the weights") {
  const auto backends = services(2);
  std::vector<Stream> held;
  TestWeir weighted(yaml(2, "least_connections", backends, {3, 1}));
  for (int i = 0; i < 8; ++i) held.push_back(held_session(weighted));
  CHECK(active(weighted, "b1") == 6);
  CHECK(active(weighted, "b2") == 2);
  held.clear();
  weighted.expect_closed(CloseReason::client_closed, 8);
  weighted.settle();
}

TEST_CASE("least_connections: a dial under way counts as a connection") {
  Backend hole("127.0.0.1", {}, 0);
  hole.fill_queue();
  Service service;
  TestWeir weir(Setup{.workers = 2,
                      .timeouts = "connect: 60s",
                      .pool = "balance: least_connections",
                      .backends = {hole.address(), service.address()}}
                    .yaml());
  // One way or the other one client comes to hang in a dial.
  std::vector<Stream> dialling;
  std::size_t served = 0;
  while (weir.snapshot().backend("servers", "b1").dialing == 0) {
    Stream client = weir.connect();
    client.say("question");
    weir.wait_until(
        [&](const admin::Snapshot& now) {
          return now.backend("servers", "b1").dialing == 1 ||
                 now.backend("servers", "b2").active == 1;
        },
        "a choice");
    if (weir.snapshot().backend("servers", "b1").dialing == 1) {
      dialling.push_back(std::move(client));
      break;
    }
    client.hear("question");
    client.close();
    ++served;
    wait_for_active(weir, "b2", 0);
  }
  CHECK(served <= 2);
  for (int i = 0; i < 5; ++i) {
    {
      Stream client = held_session(weir);
      CHECK(active(weir, "b1") == 1);
    }
    wait_for_active(weir, "b2", 0);
    ++served;
  }
  CHECK(service.accepted() == served);
  for (Stream& client : dialling) client.rst();  // it has said something: its end alone is no leave
  weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "the end");
  weir.settle();
}

TEST_CASE("random_two: everybody gets a share, and nobody is far ahead of the others") {
  const auto backends = services(4);
  TestWeir weir(yaml(4, "random_two", backends));
  std::vector<Stream> clients;
  std::vector<std::size_t> choices;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::size_t> before;
    for (const auto& each : backends) before.push_back(each->accepted());
    clients.push_back(held_session(weir));
    for (std::size_t at = 0; at < backends.size(); ++at) {
      if (backends[at]->accepted() != before[at]) choices.push_back(at);
    }
  }
  REQUIRE(choices.size() == 200);
  // Of two choices the lesser loaded: with 50 each on average, a few more or less.
  for (const auto& each : backends) {
    CHECK(each->accepted() >= 40);
    CHECK(each->accepted() <= 60);
  }
  // And it is random: one after the other is not simply taken in turn.
  std::set<std::pair<std::size_t, std::size_t>> steps;
  for (std::size_t i = 1; i < choices.size(); ++i) steps.insert({choices[i - 1], choices[i]});
  CHECK(steps.size() > 4);
  for (Stream& client : clients) client.close();
  weir.expect_closed(CloseReason::client_closed, 200);
  weir.settle();
}

std::map<std::string, std::string> homes(const TestWeir& weir, std::size_t sources,
                                         std::size_t rounds) {
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 1; i <= sources; ++i) {
      Stream client = connect_from(fmt::format("127.0.0.{}", i), weir.address());
      ask(client);
    }
  }
  std::map<std::string, std::string> home;
  for (const LogEntry& entry : weir.expect_closed(CloseReason::client_closed, sources * rounds)) {
    const std::string host = entry.client.substr(0, entry.client.rfind(':'));
    const auto [known, is_new] = home.emplace(host, entry.backend);
    CHECK(known->second == entry.backend);
  }
  CHECK(home.size() == sources);
  return home;
}

TEST_CASE("source_hash: a client's address always has the same backend, on every instance") {
  constexpr std::size_t kSources = 60;
  const auto backends = services(3);
  TestWeir one(yaml(4, "source_hash", backends));
  const auto first = homes(one, kSources, 3);
  std::map<std::string, std::size_t> share;
  for (const auto& [source, backend] : first) ++share[backend];
  // 20 each on average; its deviation is 3.7.
  for (const char* backend : {"b1", "b2", "b3"}) {
    CHECK(share[backend] >= 5);
    CHECK(share[backend] <= 40);
  }
  one.settle();
  TestWeir two(yaml(1, "source_hash", backends));
  CHECK(homes(two, kSources, 1) == first);
  two.settle();
}

TEST_CASE("source_hash: when a backend refuses, only its own clients go elsewhere") {
  constexpr std::size_t kSources = 40;
  auto backends = services(3);
  TestWeir weir(yaml(1, "source_hash", backends));
  const auto before = homes(weir, kSources, 1);
  backends[1].reset();
  std::size_t moved = 0;
  for (std::size_t i = 1; i <= kSources; ++i) {
    Stream client = connect_from(fmt::format("127.0.0.{}", i), weir.address());
    ask(client);
  }
  const auto entries = weir.expect_closed(CloseReason::client_closed, 2 * kSources);
  for (std::size_t i = kSources; i < entries.size(); ++i) {
    const std::string host = entries[i].client.substr(0, entries[i].client.rfind(':'));
    if (before.at(host) == "b2") {
      ++moved;
      CHECK(entries[i].backend != "b2");
    } else {
      CHECK(entries[i].backend == before.at(host));
      CHECK(entries[i].attempts.size() == 1);
    }
  }
  CHECK(moved > 0);
  weir.settle();
}

TEST_CASE("first: all go to the first that is there, in the order of the file") {
  auto backends = services(3);
  TestWeir weir(yaml(4, "first", backends));
  come_and_go(weir, 10);
  backends[0].reset();
  come_and_go(weir, 10);
  const auto counted = counts(weir.expect_closed(CloseReason::client_closed, 20));
  CHECK(counted.at("b1") == 10);
  CHECK(counted.at("b2") == 10);
  CHECK(backends[2]->accepted() == 0);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
