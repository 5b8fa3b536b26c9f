#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"

// One of the two processes of an upgrade is killed: the other one serves.
namespace weir::e2e {
namespace {

TEST_CASE("upgrade: the old process is killed once the new one serves, and its places are free") {
  Service service;
  const Port port;
  Lineage weir({.yaml = Setup{.workers = 2,
                              .bind = {port.on()},
                              .resilience = "max_active_requests: 2, max_pending_requests: 5",
                              .backends = {service.address()}}
                            .yaml()});
  std::vector<Stream> sessions;
  for (int i = 0; i < 2; ++i) {
    sessions.push_back(Stream::connect(port.address()));
    ask(sessions.back());
  }
  const pid_t old = weir.serving();
  weir.upgrade();
  Stream waiting = Stream::connect(port.address());
  waiting.say("q");
  weir.wait_until("GET /v1/pools/servers", [](const Json& pool) {
    return pool["admission"]["pending"].count() == 1 && pool["admission"]["active"].count() == 2;
  });
  weir.signal(old, SIGKILL);
  waiting.hear("q");
  for (Stream& session : sessions) session.expect_ending();
  sessions[0] = Stream::connect(port.address());
  ask(sessions[0]);
  weir.wait_until("GET /v1/pools/servers", [](const Json& pool) {
    return pool["admission"]["active"].count() == 2 && pool["admission"]["pending"].count() == 0;
  });
}

TEST_CASE("upgrade: clients do not notice that the old process is killed") {
  Service service;
  const Port port;
  Lineage weir(
      {.yaml = Setup{.workers = 4, .bind = {port.on()}, .backends = {service.address()}}.yaml()});
  Stream session = Stream::connect(port.address());
  ask(session);
  Traffic traffic(port.address(), 2);
  traffic.wait_for_served(20);
  const pid_t old = weir.serving();
  const pid_t now = weir.upgrade();
  // Its last short sessions are over, the long one is not.
  weir.wait_for_error_text("draining");
  traffic.wait_for_served(50);
  weir.signal(old, SIGKILL);
  session.expect_ending();
  traffic.wait_for_served(50);
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  CHECK(weir.serving() == now);
}

TEST_CASE("upgrade: the new process is killed while the old one drains, which it does to its end") {
  Service service;
  const Port port;
  Lineage weir(
      {.yaml = Setup{.workers = 2, .bind = {port.on()}, .backends = {service.address()}}.yaml()});
  Stream session = Stream::connect(port.address());
  ask(session);
  const pid_t old = weir.serving();
  const pid_t now = weir.upgrade();
  weir.signal(now, SIGKILL);
  weir.wait_for_end(now);
  for (int i = 0; i < 3; ++i) ask(session);
  CHECK(weir.running(old));
  session.close();
  CHECK(weir.wait_for_exit(old) == 0);
}

// The new program waits before it says a word.
TEST_CASE("upgrade: the old process is killed before the new one is ready, which then serves") {
  Service service;
  const Port port;
  const Folder gate;
  ProgramPath program;
  Lineage weir(
      {.yaml = Setup{.workers = 4, .bind = {port.on()}, .backends = {service.address()}}.yaml(),
       .program = {.path = program.path()}});
  program.be_script(
      fmt::format("#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.01; done\nexec {} \"$@\"\n",
                  gate.file("open"), WEIR_BINARY));
  const pid_t old = weir.serving();
  weir.signal(old, SIGUSR2);
  weir.wait_for_error_text(" as process ");
  // Once it answers again it has handed over the sockets.
  REQUIRE(weir.serving() == old);
  weir.stop(old);
  // They wait in the accept queues of a process that will never come to it.
  std::vector<Stream> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(Stream::connect(port.address()));
    clients.back().say("q");
  }
  weir.signal(old, SIGKILL);
  weir.wait_for_end(old);
  write_file(gate.file("open"), "");
  for (Stream& client : clients) client.hear("q");
  weir.wait_for_error_text("the process before has ended without a word");
}

}  // namespace
}  // namespace weir::e2e
