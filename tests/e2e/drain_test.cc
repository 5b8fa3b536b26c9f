#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

namespace weir::e2e {
namespace {

using core::CloseReason;
using core::DialOutcome;

std::string shutdown(milliseconds deadline) {
  return fmt::format("shutdown: {{deadline: {}ms}}\n", deadline.count());
}

// Whether a connect is refused at once. One that meets the end of the listening is retried by the
// kernel after a second, and refused then.
bool refused(const net::SocketAddress& address) {
  try {
    Stream::connect(address);  // and leaves at once
    return false;
  } catch (const ScriptFailure&) {
    return true;
  }
}

void wait_until_refused(const net::SocketAddress& address) {
  const auto until = Clock::now() + patience();
  while (!refused(address)) {
    if (Clock::now() >= until) throw ScriptFailure("connects are still taken", At::here());
  }
}

// One program with one session that goes on, on a deadline.
struct Draining {
  explicit Draining(milliseconds deadline, int workers = 2)
      : weir(
            {.yaml = shutdown(deadline) +
                     Setup{.workers = workers, .bind = {port.on()}, .backends = {service.address()}}
                         .yaml()}) {}

  Service service;
  const Port port;
  ServingProgram weir;
};

void ends_with_its_last_session(int signal) {
  Draining scene(60s);
  Stream idle = Stream::connect(scene.port.address());
  ask(idle);
  Stream active = Stream::connect(scene.port.address());
  ask(active);
  scene.weir.program.signal(signal);
  const Stopwatch since_signal;
  wait_until_refused(scene.port.address());
  since_signal.expect_at_most(1200ms);
  silence(scaled(400ms));
  ask(active);
  idle.close();
  ask(active);
  CHECK(scene.weir.program.running());
  active.close();
  const Stopwatch since_last;
  const admin::Snapshot last = scene.weir.wait_for_clean_exit();
  since_last.expect_at_most(150ms);
  CHECK(last.listener("front").closed_as(CloseReason::client_closed) >= 2);
}

TEST_CASE("REL-02: SIGTERM refuses new clients, lets sessions go on, and ends with the last") {
  ends_with_its_last_session(SIGTERM);
}

TEST_CASE("REL-02: SIGINT does the same") { ends_with_its_last_session(SIGINT); }

TEST_CASE("REL-02: with nobody there the exit comes at once") {
  Draining scene(60s, 4);
  scene.weir.program.signal(SIGTERM);
  const Stopwatch since_signal;
  const admin::Snapshot last = scene.weir.wait_for_clean_exit();
  since_signal.expect_at_most(150ms);
  CHECK(last.listener("front").accepted == 0);
}

TEST_CASE("REL-02: what is left at shutdown.deadline is closed as shutdown, not before") {
  Service service;
  Backend hole("127.0.0.1", {}, 0);
  hole.fill_queue();
  const Port port;
  const Port to_hole;
  const milliseconds deadline = scaled(800ms);
  const std::string yaml =
      fmt::format(R"({}workers: 2
listeners:
  - {{name: front, bind: ["{}"], pool: servers}}
  - {{name: lost, bind: ["{}"], pool: holes}}
pools:
  - {{name: servers, backends: [{{name: b1, address: "{}"}}]}}
  - {{name: holes, timeouts: {{connect: 60s}}, backends: [{{name: b1, address: "{}"}}]}}
)",
                  shutdown(deadline), port.on(), to_hole.on(), service.address(), hole.address());
  ServingProgram weir({.yaml = yaml});
  std::vector<Stream> idle;
  for (int i = 0; i < 3; ++i) {
    idle.push_back(Stream::connect(port.address()));
    ask(idle.back());
  }
  Stream active = Stream::connect(port.address());
  ask(active);
  Stream dialling = Stream::connect(to_hole.address());
  // Operators who are there and say nothing, or not all of it.
  const net::SocketAddress admin_socket =
      net::SocketAddress::from({core::Endpoint::Kind::unix_path, weir.admin_socket(), {}, 0});
  Stream silent_operator = Stream::connect(admin_socket);
  Stream slow_operator = Stream::connect(admin_socket);
  slow_operator.say("GET /v1/status HTTP/1.1\r\nHost: ");
  silence(scaled(50ms));

  const Stopwatch since_signal;
  weir.program.signal(SIGTERM);
  while (since_signal.elapsed() < deadline / 2) silence(1ms);
  ask(active);
  CHECK(weir.program.running());
  const admin::Snapshot last = weir.wait_for_clean_exit();
  since_signal.expect_between(deadline, deadline + 150ms);

  CHECK(last.listener("front").closed_as(CloseReason::shutdown) == 4);
  CHECK(last.listener("lost").closed_as(CloseReason::shutdown) == 1);
  CHECK(last.backend("holes", "b1").dials_that(DialOutcome::cancelled) == 1);
  for (Stream& each : idle) each.expect_ending();
  active.expect_ending();
  dialling.expect_ending();
  silent_operator.expect_ending();
  slow_operator.expect_ending();
  std::size_t with_dial = 0;
  for (const LogEntry& entry : weir.log(5)) {
    if (entry.listener != "lost") continue;
    ++with_dial;
    CHECK(entry.reason == "shutdown");
    CHECK(entry.closed_by == "weir");
    REQUIRE(entry.attempts.size() == 1);
    CHECK(entry.attempts[0].outcome == "cancelled");
  }
  CHECK(with_dial == 1);
}

TEST_CASE("REL-02: a dial that is under way when the drain begins may still succeed") {
  Backend slow_one("127.0.0.1", {}, 0);
  slow_one.fill_queue();
  const Port port;
  ServingProgram weir({.yaml = shutdown(60s) + Setup{.bind = {port.on()},
                                                     .timeouts = "connect: 30s",
                                                     .backends = {slow_one.address()}}
                                                   .yaml()});
  Stream client = Stream::connect(port.address());
  client.say("question");
  silence(scaled(50ms));
  weir.program.signal(SIGTERM);
  wait_until_refused(port.address());
  slow_one.empty_queue();
  Stream served = slow_one.accept();
  served.hear("question");
  served.say("answer");
  client.hear("answer");
  served.close();
  client.expect_end();
  client.close();
  const admin::Snapshot last = weir.wait_for_clean_exit();
  CHECK(last.listener("front").closed_as(CloseReason::backend_closed) == 1);
}

TEST_CASE("REL-02: with deadline 0 a session may take as long as it likes") {
  Draining scene(0s);
  Stream client = Stream::connect(scene.port.address());
  ask(client);
  scene.weir.program.signal(SIGTERM);
  wait_until_refused(scene.port.address());
  silence(scaled(1000ms));
  ask(client);
  client.close();
  scene.weir.wait_for_clean_exit();
}

TEST_CASE("REL-02: a second signal exits at once, with code 1") {
  for (const auto& [first, second] :
       {std::pair{SIGTERM, SIGTERM}, {SIGINT, SIGINT}, {SIGTERM, SIGINT}}) {
    Draining scene(60s);
    Stream client = Stream::connect(scene.port.address());
    ask(client);
    scene.weir.program.signal(first);
    scene.weir.program.wait_for_error_text("draining");
    CHECK(scene.weir.program.running());
    scene.weir.program.signal(second);
    const Stopwatch since_second;
    CHECK(scene.weir.program.wait_for_exit() == 1);
    since_second.expect_at_most(150ms);
    CHECK(count_of(scene.weir.program.errors(), "second signal") == 1);
    client.expect_ending();
  }
}

TEST_CASE(
    "REL-02: a client that was refused and stays does not hold up the exit beyond the drain") {
  const milliseconds deadline = scaled(500ms);
  Service service;
  const Port port;
  ServingProgram weir({.yaml = shutdown(deadline) + Setup{.bind = {port.on()},
                                                          .max_connections = 1,
                                                          .timeouts = "linger: 60s",
                                                          .backends = {service.address()}}
                                                        .yaml()});
  Stream admitted = Stream::connect(port.address());
  ask(admitted);
  Stream stays = Stream::connect(port.address());
  stays.expect_end();
  const Stopwatch since_signal;
  weir.program.signal(SIGTERM);
  admitted.close();
  const admin::Snapshot last = weir.wait_for_clean_exit();
  since_signal.expect_at_most(deadline + 150ms);
  CHECK(last.listener("front").closed_as(CloseReason::listener_full) == 1);
}

TEST_CASE("signals: SIGHUP reloads and does no harm") {
  Draining scene(60s);
  Stream client = Stream::connect(scene.port.address());
  for (int i = 0; i < 3; ++i) {
    scene.weir.program.signal(SIGHUP);
    ask(client);
  }
  scene.weir.program.wait_for_error_text("is in force (SIGHUP");
  client.close();
  scene.weir.program.signal(SIGTERM);
  scene.weir.wait_for_clean_exit();
}

TEST_CASE("signals: SIGUSR1 goes on in a new file after a rename, and no line is lost") {
  Draining scene(60s);
  std::size_t written = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) {
      Stream client = Stream::connect(scene.port.address());
      ask(client);
    }
    CHECK(scene.weir.log(10).size() == 10);
    const std::string old = scene.weir.folder().file(fmt::format("access.log.{}", round));
    std::filesystem::rename(scene.weir.access_log(), old);
    Stream before_reopening = Stream::connect(scene.port.address());
    ask(before_reopening);
    before_reopening.close();
    while (read_access_log(old).size() < 11) silence(1ms);
    CHECK(!std::filesystem::exists(scene.weir.access_log()));
    scene.weir.program.signal(SIGUSR1);
    const auto until = Clock::now() + patience();
    while (!std::filesystem::exists(scene.weir.access_log()) && Clock::now() < until) silence(1ms);
    CHECK(std::filesystem::exists(scene.weir.access_log()));
    written += read_access_log(old).size();
  }
  CHECK(written == 33);
  scene.weir.program.signal(SIGTERM);
  const admin::Snapshot last = scene.weir.wait_for_clean_exit();
  CHECK(last.access_log_dropped == 0);
}

}  // namespace
}  // namespace weir::e2e
