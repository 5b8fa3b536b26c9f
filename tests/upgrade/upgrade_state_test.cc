#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/e2e/circuits.h"
#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// What weir has learnt about its backends, and what operators have ordered, outlives an upgrade.
namespace weir::e2e {
namespace {

// A pool `servers` with the backends b1 and b2, of which b1 is preferred.
std::string yaml(const Port& port, const std::string& b1, const std::string& b2,
                 const std::string& resilience, const std::string& pool = {}) {
  return fmt::format(
      "workers: 2\nlisteners: [{{name: front, pool: servers, bind: [\"{}\"]}}]\n"
      "pools:\n  - name: servers\n    balance: first\n    resilience: {{{}}}\n{}"
      "    backends:\n      - {{name: b1, address: \"{}\"}}\n      - {{name: b2, address: "
      "\"{}\"}}\n",
      port.on(), resilience, pool, b1, b2);
}

Json backend(const Lineage& weir, const std::string& name = "b1") {
  return weir.json("GET /v1/pools/servers/backends/" + name);
}

std::string order(const std::string& order) {
  return "POST /v1/pools/servers/backends/b1/" + order;
}

void one_client(const Port& port, At at = At::here()) {
  Stream client = Stream::connect(port.address(), {}, at);
  ask(client, at);
}

TEST_CASE("upgrade: an open circuit stays open until its time, and is then probed") {
  const DeadPort dead;
  Service good;
  const Port port;
  Lineage weir({.yaml = yaml(port, dead.address(), good.address(), "fail_timeout: 1h")});
  one_client(port);
  REQUIRE(backend(weir)["state"].text == "circuit_open");
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    CHECK(backend(weir)["state"].text == "circuit_open");
    one_client(port);
  }
  CHECK(backend(weir)["totals"]["dials"].count() == 1);
  weir.shut_down();
}

TEST_CASE("upgrade: an open circuit is probed by the new process once its time is over") {
  Port closed;
  Service good;
  const Port port;
  Lineage weir(
      {.yaml = yaml(port, closed.on(), good.address(), "fail_timeout: " + scaled_ms(1000ms))});
  const Stopwatch since;
  one_client(port);
  weir.upgrade();
  CHECK(backend(weir)["circuit"]["phase"].text == "open");
  Service back(Backend(closed.address()));
  while (back.accepted() == 0 && since.elapsed() < patience()) one_client(port);
  since.expect_between(scaled(1000ms), scaled(1000ms) + 500ms);
  weir.wait_until("GET /v1/pools/servers/backends/b1",
                  [](const Json& b1) { return b1["circuit"]["phase"].text == "closed"; });
  weir.shut_down();
}

TEST_CASE("upgrade: failures in a row are counted on") {
  const DeadPort dead;
  Service good;
  const Port port;
  Lineage weir(
      {.yaml = yaml(port, dead.address(), good.address(), "fail_timeout: 1h, max_fails: 3")});
  for (int i = 0; i < 2; ++i) one_client(port);
  weir.upgrade();
  CHECK(backend(weir)["circuit"]["phase"].text == "closed");
  CHECK(backend(weir)["circuit"]["fails"].count() == 2);
  one_client(port);
  CHECK(backend(weir)["circuit"]["phase"].text == "open");
  weir.shut_down();
}

// Its probe hangs: whether it comes to anything is the old process's business.
TEST_CASE("upgrade: a half-open circuit is open in the new process, until the bound on the probe") {
  Port closed;
  Service good;
  const Port port;
  Lineage weir({.yaml = yaml(port, closed.on(), good.address(),
                             "fail_timeout: " + scaled_ms(500ms) +
                                 ", circuit_half_open_probes: 1, circuit_success: first_byte, "
                                 "first_byte_timeout: 60s")});
  one_client(port);
  Backend mute(closed.address());
  std::vector<Stream> clients;
  const auto until = Clock::now() + patience();
  while (!mute.has_waiting() && Clock::now() < until) {
    clients.push_back(Stream::connect(port.address()));
    clients.back().say("q");
    silence(5ms);
  }
  REQUIRE(mute.has_waiting());
  const Stream probe = mute.accept();
  REQUIRE(backend(weir)["circuit"]["phase"].text == "half_open");
  weir.upgrade();
  CHECK(backend(weir)["circuit"]["phase"].text == "open");
  CHECK(!mute.has_waiting());
}

TEST_CASE("upgrade: an operator's orders about a circuit hold on") {
  Service preferred;
  Service other;
  const Port port;
  Lineage weir({.yaml = yaml(port, preferred.address(), other.address(), "max_fails: 1")});
  weir.admin(order("circuit/open"));
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    one_client(port);
    CHECK(preferred.accepted() == 0);
    CHECK(backend(weir)["state"].text == "circuit_open");
  }
  weir.admin(order("circuit/bypass"));
  weir.upgrade();
  CHECK(backend(weir)["circuit"]["bypassed"].text == "true");
  one_client(port);
  CHECK(preferred.accepted() == 1);
  weir.admin(order("circuit/auto"));
  weir.upgrade();
  CHECK(backend(weir)["circuit"]["bypassed"].text == "false");
  weir.shut_down();
}

TEST_CASE("upgrade: a disabled backend stays disabled, and an enabled one enabled") {
  Service preferred;
  Service other;
  const Port port;
  Lineage weir({.yaml = yaml(port, preferred.address(), other.address(), "max_fails: 1")});
  weir.admin(order("disable"));
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    CHECK(backend(weir)["state"].text == "disabled");
    one_client(port);
    CHECK(preferred.accepted() == 0);
  }
  weir.admin(order("enable"));
  weir.upgrade();
  CHECK(backend(weir)["state"].text == "available");
  one_client(port);
  CHECK(preferred.accepted() == 1);
  weir.shut_down();
}

TEST_CASE("upgrade: a backend that is disabled after it gets nobody who waits in the old process") {
  Service preferred;
  Service other;
  const Port port;
  Lineage weir({.yaml = yaml(port, preferred.address(), other.address(),
                             "max_active_requests: 3, max_pending_requests: 5, "
                             "max_active_per_backend: 2")});
  std::vector<Stream> sessions;
  for (int i = 0; i < 3; ++i) {
    sessions.push_back(Stream::connect(port.address()));
    ask(sessions.back());
  }
  REQUIRE(preferred.accepted() == 2);
  Stream waiting = Stream::connect(port.address());
  waiting.say("q");
  weir.wait_until("GET /v1/pools/servers",
                  [](const Json& pool) { return pool["admission"]["pending"].count() == 1; });
  weir.upgrade();
  weir.admin(order("disable"));
  sessions[0].close();
  // Of the other one the old process has said that it has one place there, and has no more.
  CHECK(waiting.hear_or_ending("q") != Heard::text);
  CHECK(preferred.accepted() == 2);
  CHECK(other.accepted() == 1);
  sessions.clear();
  waiting.close();
  weir.shut_down();
}

TEST_CASE("upgrade: a drain's deadline ends the old process's sessions too") {
  Service preferred;
  Service other;
  const Port port;
  Lineage weir({.yaml = yaml(port, preferred.address(), other.address(), "max_fails: 1")});
  Stream session = Stream::connect(port.address());
  ask(session);
  const Stopwatch since;
  weir.admin(order("drain"), fmt::format(R"({{"deadline": "{}"}})", scaled_ms(1000ms)));
  weir.upgrade();
  CHECK(backend(weir)["state"].text == "draining");
  ask(session);
  session.expect_ending();
  since.expect_between(scaled(1000ms), scaled(1000ms) + 500ms);
  CHECK(weir.first.log(1)[0].reason == "backend_drained");
  weir.wait_until("GET /v1/pools/servers/backends/b1",
                  [](const Json& b1) { return b1["active"].count() == 0; });
  weir.wait_until("GET /v1/events?since=0", [](const Json& journal) {
    const auto& events = journal["events"].items;
    return std::any_of(events.begin(), events.end(),
                       [](const Json& event) { return event["to"].text == "drained"; });
  });
  CHECK(backend(weir)["state"].text == "draining");
  weir.shut_down();
}

TEST_CASE("upgrade: a drain begun after it, without or with an end, is of all processes") {
  Service preferred;
  Service other;
  const Port port;
  Lineage weir({.yaml = yaml(port, preferred.address(), other.address(), "max_fails: 1")});
  Stream session = Stream::connect(port.address());
  ask(session);
  weir.upgrade();
  weir.admin(order("drain"));
  ask(session);
  weir.upgrade();
  const Stopwatch since;
  weir.admin(order("drain"), fmt::format(R"({{"deadline": "{}"}})", scaled_ms(300ms)));
  session.expect_ending();
  since.expect_between(scaled(300ms), scaled(300ms) + 500ms);
  CHECK(weir.first.log(1)[0].reason == "backend_drained");
  weir.shut_down();
}

TEST_CASE("upgrade: an unhealthy backend stays unhealthy until checks say otherwise") {
  Port closed;
  Service good;
  const Port port;
  // Its checks take their time, so that those of the new process do not come first.
  Lineage weir({.yaml = yaml(port, closed.on(), good.address(), "circuit_enabled: false",
                             "    health: {type: tcp, interval: " + scaled_ms(300ms) +
                                 ", timeout: 100ms, rise: 2, fall: 1}\n")});
  weir.wait_until("GET /v1/pools/servers/backends/b1",
                  [](const Json& b1) { return b1["state"].text == "health_unhealthy"; });
  weir.upgrade();
  CHECK(backend(weir)["state"].text == "health_unhealthy");
  one_client(port);
  CHECK(backend(weir)["totals"]["dials"].count() == 0);
  const Service back(Backend(closed.address()));
  weir.wait_until("GET /v1/pools/servers/backends/b1",
                  [](const Json& b1) { return b1["state"].text == "available"; });
  weir.shut_down();
}

TEST_CASE("upgrade: a backend of the same name at another address begins anew") {
  const DeadPort dead;
  Service good;
  Service moved;
  const Port port;
  Lineage weir({.yaml = yaml(port, dead.address(), good.address(), "fail_timeout: 1h")});
  one_client(port);
  REQUIRE(backend(weir)["state"].text == "circuit_open");
  write_file(weir.first.config_file(),
             "admin: {socket: admin.sock}\nlog: {access: access.log}\n" +
                 yaml(port, moved.address(), good.address(), "fail_timeout: 1h"));
  weir.upgrade();
  CHECK(backend(weir)["state"].text == "available");
  one_client(port);
  CHECK(moved.accepted() == 1);
  weir.shut_down();
}

}  // namespace
}  // namespace weir::e2e
