#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Backends' own limits, weights and priorities.
namespace weir::e2e {
namespace {

using core::CloseReason;

struct Entry {
  std::string address;
  std::string keys = {};  // `weight: 2`
};

std::string yaml(int workers, const std::string& pool_keys, const std::vector<Entry>& backends) {
  std::string text = fmt::format(R"(workers: {}
listeners:
  - {{name: front, bind: ["127.0.0.1:1"], pool: servers}}
pools:
  - name: servers
    resilience: {{circuit_enabled: false}}
    {}
    backends:
)",
                                 workers, pool_keys);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    text += fmt::format("      - {{name: b{}, address: \"{}\"{}{}}}\n", i + 1, backends[i].address,
                        backends[i].keys.empty() ? "" : ", ", backends[i].keys);
  }
  return text;
}

std::string backend_of_next(const TestWeir& weir, std::size_t& sessions) {
  Stream client = weir.connect();
  ask(client);
  client.close();
  return weir.log(++sessions).back().backend;
}

// All at once, and all stay until everybody has been served or refused.
void crowd(TestWeir& weir, std::size_t served, std::size_t refused) {
  std::vector<Stream> clients;
  for (std::size_t i = 0; i < served + refused; ++i) {
    clients.push_back(weir.connect());
    clients.back().say("question");
  }
  std::size_t heard = 0;
  std::size_t ended = 0;
  for (Stream& client : clients) {
    if (client.hear_if_anything("question")) {
      ++heard;
    } else {
      client.expect_end();
      ++ended;
    }
  }
  CHECK(heard == served);
  CHECK(ended == refused);
  for (Stream& client : clients) client.close();
  weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "all have left");
}

TEST_CASE("capacity: a backend's max_active is exact with 300 clients at once on four workers") {
  Service service;
  TestWeir weir(yaml(4, "balance: round_robin", {{service.address(), "max_active: 40"}}));
  for (int round = 0; round < 2; ++round) crowd(weir, 40, 260);
  CHECK(service.peak() == 40);
  CHECK(service.accepted() == 80);
  const admin::Snapshot now = weir.snapshot();
  CHECK(now.listener("front").closed_as(CloseReason::backend_at_capacity) == 520);
  CHECK(now.listener("front").closed_as(CloseReason::client_closed) == 80);
  for (const LogEntry& entry : weir.log(600)) {
    CHECK(entry.attempts.size() == (entry.reason == "client_closed" ? 1 : 0));
  }
  weir.settle();
}

TEST_CASE("capacity: whom a full backend cannot take goes to the others, never beyond a limit") {
  const auto backends = services(3);
  TestWeir weir(yaml(4, "balance: round_robin",
                     {{backends[0]->address(), "max_active: 10"},
                      {backends[1]->address(), "max_active: 25"},
                      {backends[2]->address()}}));
  crowd(weir, 300, 0);
  CHECK(backends[0]->peak() == 10);
  CHECK(backends[1]->peak() == 25);
  CHECK(backends[2]->accepted() == 265);
  weir.settle();
}

// Clients come and go without pause: the count of a backend is never above its limit.
TEST_CASE("capacity: the limit holds while sessions come and go on four workers") {
  Service service;
  TestWeir weir(yaml(4, "balance: round_robin", {{service.address(), "max_active: 3"}}));
  std::vector<std::future<std::size_t>> parts;
  for (int i = 0; i < 8; ++i) {
    parts.push_back(meanwhile([&weir] {
      std::size_t served = 0;
      for (int round = 0; round < 100; ++round) {
        Stream client = weir.connect();
        client.say("question");
        if (client.hear_if_anything("question")) ++served;
      }
      return served;
    }));
  }
  std::size_t served = 0;
  for (auto& part : parts) served += part.get();
  CHECK(served >= 3);
  CHECK(service.peak() <= 3);
  weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "all have left");
  CHECK(service.accepted() == served);
  CHECK(weir.snapshot().listener("front").closed_as(CloseReason::backend_at_capacity) ==
        800 - served);
  weir.settle();
}

TEST_CASE("capacity: weight 0 takes none, also when the others fail") {
  const auto backends = services(2);
  const DeadPort dead;
  for (const char* balance :
       {"round_robin", "least_connections", "random_two", "source_hash", "first"}) {
    INFO(balance);
    TestWeir weir(yaml(1, fmt::format("balance: {}", balance),
                       {{backends[0]->address(), "weight: 0"}, {backends[1]->address()}}));
    std::size_t sessions = 0;
    for (int i = 0; i < 10; ++i) CHECK(backend_of_next(weir, sessions) == "b2");
  }
  TestWeir weir(
      yaml(1, "balance: round_robin", {{backends[0]->address(), "weight: 0"}, {dead.address()}}));
  Stream client = weir.connect();
  client.expect_end();
  client.close();
  weir.expect_closed(CloseReason::upstream_connect_failed);
  CHECK(backends[0]->accepted() == 0);
  weir.settle();
}

TEST_CASE("priority: the fallback serves only while the preferred fails, then all come home") {
  // The preferred one is down at first, on a path where it can come up.
  const Folder folder;
  const std::string preferred = folder.unix_socket("preferred");
  Service fallback;
  TestWeir weir(yaml(2, "balance: round_robin",
                     {{fallback.address(), "priority: 1"}, {preferred, "priority: 0"}}));
  std::size_t sessions = 0;
  for (int i = 0; i < 5; ++i) CHECK(backend_of_next(weir, sessions) == "b1");
  for (const LogEntry& entry : weir.log(5)) {
    REQUIRE(entry.attempts.size() == 2);
    CHECK(entry.attempts[0].backend == "b2");
    CHECK(entry.attempts[0].outcome == "refused");
  }
  Stream stays = weir.connect();
  ask(stays);
  {
    Service up(preferred);
    for (int i = 0; i < 20; ++i) CHECK(backend_of_next(weir, sessions) == "b2");
    ask(stays);  // nobody is moved
    CHECK(up.accepted() == 20);
  }
  CHECK(backend_of_next(weir, sessions) == "b1");
  stays.close();
  weir.log(sessions + 1);
  weir.settle();
}

TEST_CASE("HLT-04: after a restart with primaries up the backup's share is 0") {
  const auto primaries = services(2);
  Service backup;
  for (int start = 0; start < 2; ++start) {
    TestWeir weir(yaml(
        4, "balance: round_robin",
        {{backup.address(), "priority: 1"}, {primaries[0]->address()}, {primaries[1]->address()}}));
    crowd(weir, 100, 0);
    CHECK(weir.log(100).size() == 100);
    weir.settle();
  }
  CHECK(backup.accepted() == 0);
  CHECK(primaries[0]->accepted() == 100);
  CHECK(primaries[1]->accepted() == 100);
}

TEST_CASE("priority: what the preferred tier has no room for goes to the next") {
  Service preferred;
  Service fallback;
  TestWeir weir(yaml(4, "balance: round_robin",
                     {{preferred.address(), "max_active: 20"},
                      {fallback.address(), "priority: 7, max_active: 30"}}));
  crowd(weir, 50, 50);
  CHECK(preferred.peak() == 20);
  CHECK(fallback.peak() == 30);
  CHECK(weir.snapshot().listener("front").closed_as(CloseReason::backend_at_capacity) == 50);
  weir.settle();
}

}  // namespace
}  // namespace weir::e2e
