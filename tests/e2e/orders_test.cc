#include "tests/e2e/orders.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"

// Backends that an operator takes out of service and puts back.
namespace weir::e2e {
namespace {

using core::CloseReason;
using upstream::BackendState;
using Lines = std::vector<std::string>;

ConfigText between(int workers, const std::vector<std::string>& addresses,
                   const std::string& resilience = {}) {
  return {workers, {{}}, {{"servers", backends_at(addresses), resilience, ""}}, ""};
}

std::uint64_t dials(const TestWeir& weir, const std::string& backend) {
  const admin::Snapshot now = weir.snapshot();
  std::uint64_t sum = now.backend("servers", backend).dialing;
  for (const std::uint64_t count : now.backend("servers", backend).dials) sum += count;
  return sum;
}

// Waits until what had begun with the backend has ended, and the backend knows of it.
void wait_until_left(const TestWeir& weir, const Service& server, const std::string& backend) {
  weir.wait_until(
      [&](const admin::Snapshot& now) {
        return now.backend("servers", backend).active == 0 &&
               server.accepted() == dials(weir, backend);
      },
      "its sessions are over");
}

TEST_CASE("an order holds on all workers when it returns: nobody is dialled after a disable") {
  for (const int workers : {1, 2, 4}) {
    const auto servers = services(2);
    TestWeir weir(between(workers, addresses_of(servers)).yaml());
    Traffic traffic(weir.address(), 4);
    for (int round = 0; round < 20; ++round) {
      traffic.wait_for_served(20);
      CHECK(disable(weir, "b1"));
      CHECK(state(weir, "b1") == BackendState::disabled);
      wait_until_left(weir, *servers[0], "b1");
      const std::size_t before = servers[0]->accepted();
      traffic.wait_for_served(40);
      CHECK(servers[0]->accepted() == before);
      CHECK(dials(weir, "b1") == before);
      CHECK(enable(weir, "b1"));
      CHECK(state(weir, "b1") == BackendState::available);
      traffic.wait_for_served(20);
      CHECK(servers[0]->accepted() > before);
    }
    const Traffic::Tally tally = traffic.stop();
    CHECK(tally.ended == 0);
    CHECK(tally.reset == 0);
    const Lines lines = told(weir);
    CHECK(lines.size() == 40);
    CHECK(lines[0] == "disable servers/b1 disabled");
    CHECK(lines[1] == "enable servers/b1 enabled");
    weir.settle();
  }
}

TEST_CASE("sessions of a backend that is disabled run on, and without another who comes is told") {
  for (const int workers : {1, 2, 4}) {
    const Service server;
    TestWeir weir(between(workers, {server.address()}).yaml());
    Stream kept = weir.connect();
    ask(kept);
    CHECK(disable(weir, "b1"));
    ask(kept);
    {
      Stream late = weir.connect();
      late.expect_end();
    }
    weir.wait_until(
        [](const admin::Snapshot& now) {
          return now.listener("front").closed_as(CloseReason::upstream_unavailable) == 1;
        },
        "it is refused as upstream_unavailable");
    CHECK(weir.snapshot().backend("servers", "b1").active == 1);
    CHECK(enable(weir, "b1"));
    Stream again = weir.connect();
    ask(again);
    ask(kept);
    kept.close();
    again.close();
    weir.settle();
  }
}

TEST_CASE("a drain without a deadline ends nobody, and is over with the last session") {
  for (const int workers : {1, 2, 4}) {
    const auto servers = services(2);
    ConfigText text = between(workers, addresses_of(servers));
    text.pool().keys = "balance: first";
    TestWeir weir(text.yaml());
    std::vector<Stream> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(weir.connect());
      ask(clients.back());
    }
    CHECK(drain(weir, "b1"));
    CHECK(state(weir, "b1") == BackendState::draining);
    CHECK(weir.snapshot().backend("servers", "b1").drain_until == core::kNever);
    for (int i = 0; i < 4; ++i) {
      Stream client = weir.connect();
      ask(client);
    }
    CHECK(servers[0]->accepted() == 3);
    CHECK(servers[1]->accepted() == 4);
    silence(250ms);  // longer than it takes to look whether drains are over
    for (Stream& client : clients) ask(client);
    CHECK(told(weir) == Lines{"drain servers/b1 draining"});
    clients.clear();
    wait_until_told(weir, {"drain servers/b1 draining", "drain servers/b1 drained"});
    CHECK(state(weir, "b1") == BackendState::draining);  // until it is enabled
    CHECK(enable(weir, "b1"));
    Stream client = weir.connect();
    ask(client);
    CHECK(servers[0]->accepted() == 4);
    client.close();
    weir.settle();
  }
}

// One session, one dial that hangs, and one that goes on alone for its client has left.
TEST_CASE("at the deadline of a drain all that is left ends as backend_drained, dials included") {
  for (const int workers : {1, 2, 4}) {
    Backend server("127.0.0.1", {}, 0);
    const Service other;
    ConfigText text = between(workers, {server.address(), other.address()});
    text.pool().keys = "balance: first, timeouts: {connect: 60s}";
    TestWeir weir(text.yaml());
    Stream client = weir.connect();
    client.say("q");
    Stream served = server.accept();
    served.hear("q");
    server.fill_queue();
    const auto wait_for = [&weir](std::uint64_t active, std::uint64_t dialing) {
      weir.wait_until(
          [=](const admin::Snapshot& now) {
            const auto& backend = now.backend("servers", "b1");
            return backend.active == active && backend.dialing == dialing;
          },
          fmt::format("{} are there, {} dial", active, dialing));
    };
    Stream left = weir.connect();
    wait_for(2, 1);
    left.close();
    wait_for(1, 1);
    Stream dials = weir.connect();
    wait_for(2, 2);
    const milliseconds deadline = scaled(300ms);
    const Stopwatch watch;
    CHECK(drain(weir, "b1", deadline));
    CHECK(state(weir, "b1") == BackendState::draining);
    CHECK(weir.snapshot().backend("servers", "b1").drain_until != core::kNever);
    client.say("still");
    served.hear("still");
    dials.expect_end();
    watch.expect_between(deadline, deadline + 100ms);
    client.expect_ending();
    served.expect_ending();
    for (Stream* each : {&client, &dials, &served}) each->close();
    wait_until_told(weir, {"drain servers/b1 draining", "drain servers/b1 deadline",
                           "drain servers/b1 drained"});
    wait_for(0, 0);
    std::size_t drained = 0;
    for (const LogEntry& entry : weir.log(3)) {
      if (entry.reason == e2e::text(CloseReason::backend_drained)) ++drained;
    }
    CHECK(drained == 2);
    CHECK(weir.snapshot().backend("servers", "b1").dials_that(core::DialOutcome::cancelled) == 2);
    CHECK(weir.snapshot().backend("servers", "b1").circuit.fails == 0);
    server.empty_queue();
    CHECK(other.accepted() == 0);
    weir.settle();
  }
}

TEST_CASE("a drain that is taken back, or begun anew, forgets its deadline") {
  for (const int workers : {1, 4}) {
    const Service server;
    TestWeir weir(between(workers, {server.address()}).yaml());
    Stream client = weir.connect();
    ask(client);
    const milliseconds soon = scaled(150ms);
    for (const bool by_enable : {true, false}) {
      CHECK(drain(weir, "b1", soon));
      CHECK((by_enable ? enable(weir, "b1") : disable(weir, "b1")));
      client.expect_silence(soon * 2);
      ask(client);
    }
    CHECK(drain(weir, "b1", soon));
    CHECK(drain(weir, "b1"));
    client.expect_silence(soon * 2);
    ask(client);
    const Stopwatch watch;
    CHECK(drain(weir, "b1", soon));
    client.expect_ending();
    watch.expect_between(soon, soon + 100ms);
    client.close();
    weir.expect_closed(CloseReason::backend_drained);
    weir.settle();
  }
}

TEST_CASE("an operator's order outlives a reload, and a backend that leaves and comes back") {
  for (const int workers : {1, 2, 4}) {
    const auto servers = services(2);
    ConfigText text = between(workers, addresses_of(servers));
    text.pool().keys = "balance: first";
    TestWeir weir(text.yaml());
    Stream kept = weir.connect();
    ask(kept);
    CHECK(disable(weir, "b1"));
    text.pool().backends[0].keys = "weight: 7";
    weir.reload(text.yaml());
    CHECK(state(weir, "b1") == BackendState::disabled);
    ConfigText without = text;
    without.pool().backends.erase(without.pool().backends.begin());
    weir.reload(without.yaml());
    CHECK_FALSE(enable(weir, "b1"));  // there is none of that name
    weir.reload(text.yaml());
    CHECK(state(weir, "b1") == BackendState::disabled);
    Stream client = weir.connect();
    ask(client);
    CHECK(servers[0]->accepted() == 1);
    CHECK(enable(weir, "b1"));
    CHECK(state(weir, "b1") == BackendState::available);
    Stream other = weir.connect();
    ask(other);
    CHECK(servers[0]->accepted() == 2);
    for (Stream* each : {&kept, &client, &other}) each->close();
    weir.settle();
  }
}

TEST_CASE("the deadline of a drain holds for a backend that a reload has removed meanwhile") {
  for (const int workers : {1, 4}) {
    const auto servers = services(2);
    ConfigText text = between(workers, addresses_of(servers));
    text.pool().keys = "balance: first";
    TestWeir weir(text.yaml());
    Stream client = weir.connect();
    ask(client);
    const milliseconds soon = scaled(200ms);
    CHECK(drain(weir, "b1", soon));
    text.pool().backends.erase(text.pool().backends.begin());
    weir.reload(text.yaml());
    client.expect_ending();
    client.close();
    weir.expect_closed(CloseReason::backend_drained);
    weir.wait_until(
        [](const admin::Snapshot& now) { return now.pool("servers").backends.size() == 1; },
        "b1 is forgotten");
    weir.settle();
  }
}

TEST_CASE("orders about what does not exist are answered so, and are not told") {
  const Service server;
  TestWeir weir(between(2, {server.address()}).yaml());
  CHECK_FALSE(disable(weir, "b2"));
  CHECK_FALSE(enable(weir, "b2"));
  CHECK_FALSE(drain(weir, "b2", 0ms));
  CHECK_FALSE(order(weir, "b2", admin::CircuitOrder::open));
  CHECK_FALSE(kill(weir, 0));
  CHECK_FALSE(kill(weir, 1));
  CHECK_FALSE(kill(weir, 2));
  CHECK(kill_all(weir, "b2") == 0);
  weir.control([](admin::Control& control) {
    CHECK_FALSE(control.disable("nobody", "b1"));
    CHECK_FALSE(control.drain("nobody", "b1", std::nullopt));
    CHECK(control.kill("nobody", "b1") == 0);
  });
  CHECK(told(weir).empty());
  weir.settle();
}

TEST_CASE("a reload that comes while weir shuts down is refused, and opens nothing") {
  for (const int workers : {1, 4}) {
    const auto servers = services(2);
    ConfigText text = between(workers, addresses_of(servers));
    text.process = "shutdown: {deadline: 5s}\n";
    TestWeir weir(text.yaml());
    Stream client = weir.connect();
    ask(client);
    weir.drain();
    weir.control([](admin::Control& control) { CHECK(control.status().draining); });
    text.listeners.push_back({"back", {"127.0.0.1:2"}, "servers", ""});
    const admin::Reload reload = weir.try_reload(text.yaml());
    CHECK_FALSE(reload.accepted);
    CHECK(weir.snapshot().listeners.size() == 1);
    ask(client);
    client.close();
    CHECK(weir.wait_for_exit() == 0);
  }
}

}  // namespace
}  // namespace weir::e2e
