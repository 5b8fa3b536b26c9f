#include <doctest/doctest.h>

#include <csignal>
#include <string>

#include "tests/e2e/circuits.h"
#include "tests/e2e/fickle_backend.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"

// Probes that become streams of hours, and what a client and an operator see of an open circuit.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;

constexpr milliseconds kOpenTime(400);

// `fail_timeout` over and over, while `stream` lives.
void outlast(Asked& stream, int times) {
  for (int i = 0; i < times; ++i) {
    stream.client.expect_silence(scaled(kOpenTime));
    stream.client.say("q");
    stream.backend->hear("q");
    stream.answer();
  }
}

TEST_CASE("a probe that becomes a long stream has decided, and its end decides nothing") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(circuits_yaml(workers, circuit_keys(1, kOpenTime), {{server.address()}}));
    std::size_t clients = 0;
    one_client(weir, clients);
    wait_for_probe_due(weir, "b1");
    Backend& listening = server.listen();
    Asked stream(weir, listening);
    wait_for_phase(weir, "b1", CircuitPhase::closed);
    CHECK(circuit(weir).probes_in_flight == 0);
    outlast(stream, 2);
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    // Through another failure and another recovery.
    server.die();
    CHECK(one_client(weir, clients).reason == text(CloseReason::upstream_connect_failed));
    outlast(stream, 1);
    wait_for_probe_due(weir, "b1");
    server.serve();
    CHECK(one_client(weir, clients).reason == text(CloseReason::client_closed));
    const core::CircuitStatus before = circuit(weir);
    CHECK(before.phase == CircuitPhase::closed);
    stream.backend->close();
    stream.client.expect_end();
    stream.client.close();
    weir.log(++clients);
    CHECK(circuit(weir).epoch == before.epoch);
    CHECK(circuit(weir).fails == 0);
    CHECK(circuit(weir).stale_results == 0);
    weir.settle();
  }
}

TEST_CASE("a probe that stays silent on both sides for hours does not keep its backend out") {
  for (const int workers : {1, 2, 4}) {
    FickleBackend server;
    TestWeir weir(circuits_yaml(
        workers,
        circuit_keys(1, kOpenTime, ", circuit_success: first_byte, first_byte_timeout: 5m"),
        {{server.address()}}));
    std::size_t clients = 0;
    one_client(weir, clients);
    wait_for_probe_due(weir, "b1");
    Backend& listening = server.listen();
    Stream silent = weir.connect();
    Stream backend = listening.accept();
    wait_for_phase(weir, "b1", CircuitPhase::half_open);
    silent.expect_silence(scaled(kOpenTime) * 2);
    wait_for_probe_due(weir, "b1");
    Asked probe(weir, listening);
    probe.answer();
    wait_for_phase(weir, "b1", CircuitPhase::closed);
    probe.end();
    weir.log(++clients);
    // It has never been decided, and is a session as any other.
    silent.say("q");
    backend.hear("q");
    backend.say("a");
    silent.hear("a");
    weir.wait_until(
        [](const admin::Snapshot& now) {
          return now.backend("servers", "b1").circuit.stale_results == 1;
        },
        "its first byte is too late");
    CHECK(circuit(weir).phase == CircuitPhase::closed);
    silent.close();
    backend.expect_end();
    backend.close();
    weir.log(++clients);
    weir.settle(listening);
  }
}

TEST_CASE("a client refused by an open circuit sees an end, and only the access log tells of it") {
  constexpr std::size_t kRefused = 50;
  for (const int workers : {1, 2, 4}) {
    const Folder folder;
    const std::string front = folder.file("front");
    const auto address = net::SocketAddress::from({core::Endpoint::Kind::unix_path, front, {}, 0});
    ServingProgram weir({.yaml = Setup{.workers = workers,
                                       .bind = {"unix:" + front},
                                       .resilience = "max_fails: 1, fail_timeout: 60s",
                                       .circuit = true,
                                       .backends = {folder.unix_socket("nobody")}}
                                     .yaml(),
                         .log = "level: debug"});
    Stream::connect(address).expect_end();
    weir.program.wait_for_error_text(
        "backend b1: circuit closed -> open: consecutive_failures, the last: refused; for 60 s\n");
    weir.log(1);
    const std::string said = weir.program.errors();
    for (std::size_t i = 0; i < kRefused; ++i) {
      Stream client = Stream::connect(address);
      if (i % 2 == 0) client.send(i);
      client.expect_end();
    }
    const auto entries = weir.log(1 + kRefused);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      CHECK(entries[i].reason == text(CloseReason::circuit_open));
      CHECK(entries[i].closed_by == "weir");
      CHECK(entries[i].attempts.empty());
      CHECK(entries[i].backend.empty());
      CHECK(entries[i].bytes_out == 0);
    }
    CHECK(weir.program.errors() == said);
    weir.program.signal(SIGTERM);
    weir.wait_for_clean_exit();
  }
}

}  // namespace
}  // namespace weir::e2e
