#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/orders.h"
#include "tests/e2e/service.h"

// Sessions that an operator ends, wherever they are on their way.
namespace weir::e2e {
namespace {

using core::CloseReason;
using proxy::SessionState;

ConfigText before(int workers, const std::vector<std::string>& addresses,
                  const std::string& resilience = {}) {
  return {workers, {{}}, {{"servers", backends_at(addresses), resilience, "balance: first"}}, ""};
}

void wait_for_state(TestWeir& weir, std::size_t count, SessionState state, At at = At::here()) {
  weir.wait_until(
      [&](const admin::Snapshot&) {
        std::size_t found = 0;
        for (const auto& session : sessions(weir)) found += session.state == state ? 1 : 0;
        return found == count;
      },
      fmt::format("{} are {}", count, name(state)), at);
}

TEST_CASE("kill: a session is ended by its id on whichever worker it is, once") {
  for (const int workers : {1, 2, 4}) {
    const Service server;
    TestWeir weir(before(workers, {server.address()}).yaml());
    std::vector<Stream> clients;
    for (int i = 0; i < 12; ++i) {
      clients.push_back(weir.connect());
      ask(clients.back());
    }
    const auto all = sessions(weir);
    REQUIRE(all.size() == 12);
    for (const auto& session : all) {
      CHECK(session.state == SessionState::relaying);
      CHECK(session.backend == "b1");
      CHECK(kill(weir, session.id));
    }
    for (Stream& client : clients) {
      client.expect_ending();
      client.close();
    }
    std::set<std::uint64_t> logged;
    for (const LogEntry& entry : weir.expect_closed(CloseReason::killed, 12)) {
      logged.insert(entry.session);
    }
    CHECK(logged.size() == 12);
    for (const auto& session : all) CHECK_FALSE(kill(weir, session.id));
    const auto events = told(weir);
    CHECK(events.size() == 12);
    CHECK(events[0] == fmt::format("kill / {}", all[0].id));
    weir.settle();
  }
}

// Held open by peers that do not close, and by the bound on that.
TEST_CASE("kill: a session that has ended and only takes leave is no session to kill") {
  const Service server;
  ConfigText text = before(1, {server.address()});
  text.pool().keys += ", timeouts: {linger: 60s}";
  TestWeir weir(text.yaml());
  Stream client = weir.connect();
  ask(client);
  const std::uint64_t id = sessions(weir).at(0).id;
  CHECK(kill(weir, id));
  wait_for_state(weir, 1, SessionState::parting);
  CHECK_FALSE(kill(weir, id));
  CHECK(kill_all(weir, "b1") == 0);
  client.expect_ending();
  client.close();
  weir.expect_closed(CloseReason::killed);
  weir.settle();
}

TEST_CASE("kill: who waits in the queue, and who is dialled for, is ended as well") {
  for (const int workers : {1, 2, 4}) {
    Backend hole("127.0.0.1", {}, 0);
    hole.fill_queue();
    ConfigText text =
        before(workers, {hole.address()},
               "max_active_requests: 1, max_pending_requests: 5, pending_timeout: 0s, "
               "circuit_enabled: false");
    text.pool().keys += ", timeouts: {connect: 60s}";
    TestWeir weir(text.yaml());
    std::vector<Stream> clients;
    clients.push_back(weir.connect());
    wait_for_state(weir, 1, SessionState::dialling);
    clients.push_back(weir.connect());
    wait_for_state(weir, 1, SessionState::queued);
    const auto all = sessions(weir);
    for (const SessionState state : {SessionState::queued, SessionState::dialling}) {
      for (const auto& session : all) {
        if (session.state == state) CHECK(kill(weir, session.id));
      }
    }
    for (Stream& client : clients) {
      client.expect_end();
      client.close();
    }
    weir.expect_closed(CloseReason::killed, 2);
    CHECK(weir.snapshot().backend("servers", "b1").dials_that(core::DialOutcome::cancelled) == 1);
    weir.settle();
  }
}

TEST_CASE("kill: those of one backend are ended, dials too, and nobody else's") {
  for (const int workers : {1, 2, 4}) {
    Backend server("127.0.0.1", {}, 0);
    const Service other;
    ConfigText text =
        before(workers, {server.address(), other.address()}, "circuit_enabled: false");
    text.pool().keys += ", timeouts: {connect: 60s}";
    text.pool().backends[0].keys = "max_active: 3";
    TestWeir weir(text.yaml());
    std::vector<Stream> clients;
    std::vector<Stream> served;
    for (int i = 0; i < 2; ++i) {
      clients.push_back(weir.connect());
      clients.back().say("q");
      served.push_back(server.accept());
      served.back().hear("q");
    }
    server.fill_queue();
    clients.push_back(weir.connect());
    wait_for_state(weir, 1, SessionState::dialling);
    std::vector<Stream> elsewhere;
    for (int i = 0; i < 5; ++i) {
      elsewhere.push_back(weir.connect());
      ask(elsewhere.back());
    }
    CHECK(kill_all(weir, "b1") == 3);
    for (Stream& client : clients) {
      client.expect_ending();
      client.close();
    }
    for (Stream& each : served) {
      each.expect_ending();
      each.close();
    }
    for (Stream& client : elsewhere) ask(client);
    weir.expect_closed(CloseReason::killed, 3);
    CHECK(told(weir) == std::vector<std::string>{"kill servers/b1 killed"});
    CHECK(state(weir, "b1") == upstream::BackendState::available);  // whoever comes may
    CHECK(kill_all(weir, "b2") == 5);
    for (Stream& client : elsewhere) {
      client.expect_ending();
      client.close();
    }
    server.empty_queue();
    weir.settle();
  }
}

TEST_CASE("kill: sessions of a backend that was removed are ended by its name, or by their ids") {
  for (const int workers : {1, 4}) {
    const auto servers = services(2);
    ConfigText text = before(workers, addresses_of(servers));
    TestWeir weir(text.yaml());
    std::vector<Stream> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(weir.connect());
      ask(clients.back());
    }
    text.pool().backends.erase(text.pool().backends.begin());
    weir.reload(text.yaml());
    CHECK(kill(weir, sessions(weir).at(0).id));
    CHECK(kill_all(weir, "b1") == 2);
    CHECK(kill_all(weir, "b1") == 0);
    for (Stream& client : clients) {
      client.expect_ending();
      client.close();
    }
    weir.expect_closed(CloseReason::killed, 3);
    weir.wait_until(
        [](const admin::Snapshot& now) { return now.pool("servers").backends.size() == 1; },
        "b1 is forgotten");
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
