#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// Backends that active checks look after.
namespace weir::e2e {
namespace {

using core::CircuitPhase;
using core::CloseReason;
using core::DialOutcome;
using core::HealthState;

// Short enough for a story, long enough for a loop that shares a processor.
constexpr milliseconds kInterval = 25ms;

std::string checks(int rise, int fall, const std::string& more = ", timeout: 30s") {
  return fmt::format("health: {{interval: {}, rise: {}, fall: {}{}}}", scaled_ms(kInterval), rise,
                     fall, more);
}

Setup setup(int workers, const std::string& health, const std::vector<std::string>& backends) {
  Setup setup;
  setup.workers = workers;
  setup.pool = health;
  setup.backends = backends;
  return setup;
}

// The same, with a circuit that one failed dial opens.
Setup with_circuit(Setup setup, milliseconds fail_timeout) {
  setup.circuit = true;
  setup.resilience = "max_fails: 1, fail_timeout: " + scaled_ms(fail_timeout);
  return setup;
}

const upstream::HealthStatus& health(const admin::Snapshot& now, const std::string& backend) {
  return *now.backend("servers", backend).health;
}

std::uint64_t checks_that(const admin::Snapshot& now, const std::string& backend,
                          DialOutcome outcome) {
  return health(now, backend).checks[static_cast<std::size_t>(outcome)];
}

void wait_until(const TestWeir& weir, const std::string& backend, HealthState state) {
  weir.wait_until([&](const admin::Snapshot& now) { return health(now, backend).state == state; },
                  fmt::format("{} is {}", backend, name(state)));
}

// So many more checks of the backend.
void wait_for_checks(const TestWeir& weir, const std::string& backend, DialOutcome outcome,
                     std::uint64_t more) {
  const std::uint64_t wanted = checks_that(weir.snapshot(), backend, outcome) + more;
  weir.wait_until(
      [&](const admin::Snapshot& now) { return checks_that(now, backend, outcome) >= wanted; },
      fmt::format("{} more checks of {} are {}", more, backend, name(outcome)));
}

core::CircuitStatus circuit(const TestWeir& weir, const std::string& backend) {
  return weir.snapshot().backend("servers", backend).circuit;
}

std::uint64_t dials(const TestWeir& weir, const std::string& backend) {
  const admin::Snapshot now = weir.snapshot();
  std::uint64_t sum = 0;
  for (const std::uint64_t count : now.backend("servers", backend).dials) sum += count;
  return sum;
}

// One client from hello to goodbye; answers its line of the log.
LogEntry one_client(const TestWeir& weir, std::size_t& clients) {
  Stream client = weir.connect();
  client.say("q");
  if (!client.hear_if_anything("q")) client.expect_end();
  client.close();
  return weir.log(++clients).back();
}

// A backend on a unix socket that can go and come back.
class Place {
 public:
  Place() : path_(folder_.unix_socket("b")) {}
  const std::string& address() const { return path_; }
  Service& up() { return service_.emplace(path_); }
  void down() {
    service_.reset();
    std::filesystem::remove(folder_.file("b"));
  }

 private:
  const Folder folder_;
  const std::string path_;
  std::optional<Service> service_;
};

TEST_CASE(
    "HLT: a backend that goes is left out without a client noticing, and used when it is back") {
  for (const int workers : {1, 2, 4}) {
    const Port port;
    std::optional<Service> b1(std::in_place, Backend(port.address()));
    const Service b2;
    TestWeir weir(setup(workers, checks(2, 3), {b1->address(), b2.address()}).yaml());
    std::size_t clients = 0;
    for (int i = 0; i < 4; ++i) CHECK(one_client(weir, clients).reason == "client_closed");
    b1.reset();
    for (int i = 0; i < 4; ++i) {  // perhaps not yet found out
      const LogEntry entry = one_client(weir, clients);
      CHECK(entry.reason == "client_closed");
      CHECK(entry.backend == "b2");
    }
    wait_until(weir, "b1", HealthState::unhealthy);
    const std::uint64_t dialled = dials(weir, "b1");
    for (int i = 0; i < 10; ++i) {
      const LogEntry entry = one_client(weir, clients);
      CHECK(entry.backend == "b2");
      CHECK(entry.attempts.size() == 1);
    }
    CHECK(dials(weir, "b1") == dialled);

    b1.emplace(Backend(port.address()));
    wait_until(weir, "b1", HealthState::healthy);
    int home = 0;
    for (int i = 0; i < 4; ++i) home += one_client(weir, clients).backend == "b1" ? 1 : 0;
    CHECK(home == 2);
    CHECK(b1->spoke() == 2);
    weir.settle();
  }
}

TEST_CASE("HLT: the fallback serves while the preferred is unhealthy, and then all go home") {
  Place preferred;
  preferred.up();
  const Service fallback;
  Setup tiers = setup(2, checks(1, 1), {});
  TestWeir weir(tiers.yaml() + fmt::format("      - {{name: b1, address: \"{}\"}}\n"
                                           "      - {{name: b2, address: \"{}\", priority: 1}}\n",
                                           preferred.address(), fallback.address()));
  std::size_t clients = 0;
  CHECK(one_client(weir, clients).backend == "b1");
  preferred.down();
  wait_until(weir, "b1", HealthState::unhealthy);
  for (int i = 0; i < 4; ++i) CHECK(one_client(weir, clients).backend == "b2");
  preferred.up();
  wait_until(weir, "b1", HealthState::healthy);
  for (int i = 0; i < 4; ++i) CHECK(one_client(weir, clients).backend == "b1");
  weir.settle();
}

TEST_CASE("HLT-04: the turn to healthy closes the circuit, long before its time is over") {
  for (const int workers : {1, 2, 4}) {
    Place b1;
    // A second passes before it is unhealthy: time for a client to open the circuit.
    TestWeir weir(with_circuit(setup(workers, checks(2, 40), {b1.address()}), 600s).yaml());
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    CHECK(one_client(weir, clients).reason == "circuit_open");
    wait_until(weir, "b1", HealthState::unhealthy);
    CHECK(one_client(weir, clients).reason == "upstream_unavailable");
    CHECK(circuit(weir, "b1").phase == CircuitPhase::open);
    b1.up();
    wait_until(weir, "b1", HealthState::healthy);
    weir.wait_until(
        [](const admin::Snapshot& now) {
          return now.backend("servers", "b1").circuit.phase == CircuitPhase::closed;
        },
        "the circuit is closed");
    for (int i = 0; i < 4; ++i) CHECK(one_client(weir, clients).reason == "client_closed");
    CHECK(dials(weir, "b1") == 5);
    weir.settle();
  }
}

TEST_CASE("HLT: steady health does not close a circuit that dials have opened") {
  for (const int workers : {1, 2, 4}) {
    Place b1;
    TestWeir weir(with_circuit(setup(workers, checks(1, 1000), {b1.address()}), 600s).yaml());
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    const Service& up = b1.up();
    wait_for_checks(weir, "b1", DialOutcome::connected, 10);
    CHECK(circuit(weir, "b1").phase == CircuitPhase::open);
    for (int i = 0; i < 4; ++i) CHECK(one_client(weir, clients).reason == "circuit_open");
    CHECK(up.spoke() == 0);
    weir.settle();
  }
}

TEST_CASE("HLT: checks that fail never open the circuit, and refuse as upstream_unavailable") {
  for (const int workers : {1, 2, 4}) {
    const Place b1;
    TestWeir weir(with_circuit(setup(workers, checks(2, 3), {b1.address()}), 600s).yaml());
    wait_until(weir, "b1", HealthState::unhealthy);
    wait_for_checks(weir, "b1", DialOutcome::refused, 10);
    std::size_t clients = 0;
    for (int i = 0; i < 4; ++i) {
      const LogEntry entry = one_client(weir, clients);
      CHECK(entry.reason == "upstream_unavailable");
      CHECK(entry.attempts.empty());
    }
    const core::CircuitStatus seen = circuit(weir, "b1");
    CHECK(seen.phase == CircuitPhase::closed);
    CHECK(seen.fails == 0);
    CHECK(seen.epoch == 1);
    CHECK(dials(weir, "b1") == 0);
    weir.settle();
  }
}

TEST_CASE("HLT: an unhealthy backend is not probed, although a probe is due") {
  for (const int workers : {1, 2, 4}) {
    Place b1;
    TestWeir weir(with_circuit(setup(workers, checks(1000, 40), {b1.address()}), 1ms).yaml());
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "upstream_connect_failed");
    wait_until(weir, "b1", HealthState::unhealthy);
    // It is back, but for so many checks that it stays unhealthy.
    const Service& up = b1.up();
    const std::uint64_t dialled = dials(weir, "b1");
    wait_for_checks(weir, "b1", DialOutcome::connected, 3);
    CHECK(circuit(weir, "b1").probe_due);
    for (int i = 0; i < 8; ++i) {
      CHECK(one_client(weir, clients).reason == "upstream_unavailable");
    }
    CHECK(circuit(weir, "b1").probe_due);
    CHECK(dials(weir, "b1") == dialled);
    CHECK(up.accepted() >= 3);  // the checks
    CHECK(up.spoke() == 0);
    weir.settle();
  }
}

TEST_CASE(
    "HLT: no server's program sees a check come and go in good order, and no books count it") {
  for (const int workers : {1, 2, 4}) {
    const Service b1;
    TestWeir weir(setup(workers, checks(2, 3), {b1.address()}).yaml());
    wait_for_checks(weir, "b1", DialOutcome::connected, 20);
    std::size_t clients = 0;
    CHECK(one_client(weir, clients).reason == "client_closed");
    weir.settle();
    // They are over before it hears of them; a few may not be, where weir has to wait for a
    // processor for as long as the kernel keeps the handshake open, and then they are resets.
    CHECK(b1.silent(Ending::end) == 0);
    CHECK(b1.silent(Ending::reset) < 10);
    CHECK(b1.spoke() == 1);
    CHECK(dials(weir, "b1") == 1);
    CHECK(weir.snapshot().listener("front").accepted == 1);
  }
}

TEST_CASE("HLT: checks go on in a drain, while a session may still be dialling") {
  const Service b1;
  TestWeir weir("shutdown: {deadline: 60s}\n" + setup(1, checks(2, 3), {b1.address()}).yaml());
  Stream client = weir.connect();
  ask(client);
  weir.drain();
  wait_for_checks(weir, "b1", DialOutcome::connected, 5);
  client.close();
  CHECK(weir.wait_for_exit() == 0);
}

TEST_CASE("HLT: a check that hangs does not hold up the exit") {
  const Folder folder;
  Backend hole(folder.unix_socket("hole"), {}, 0);
  hole.fill_queue();
  Backend silent("127.0.0.1", {}, 0);
  silent.fill_queue();
  TestWeir weir(
      setup(1, checks(2, 3, ", timeout: 60s"), {hole.address(), silent.address()}).yaml());
  silence(scaled(2 * kInterval));  // both have begun
  const Stopwatch watch;
  weir.drain();
  CHECK(weir.wait_for_exit() == 0);
  watch.expect_at_most(500ms);
  const admin::Snapshot last = weir.snapshot();
  CHECK_FALSE(health(last, "b1").last);  // none has ended
  CHECK_FALSE(health(last, "b2").last);
}

TEST_CASE("HLT: a turn is in the log with its cause, and the exit snapshot has what checks said") {
  Place b1;
  const Port port;
  Setup one = with_circuit(setup(1, checks(2, 40), {b1.address()}), 600s);
  one.bind = {port.on()};
  ServingProgram weir({.yaml = one.yaml()});
  Stream client = Stream::connect(port.address());
  client.say("q");
  client.expect_end();
  client.close();
  const std::string about = "pool servers: backend b1: ";
  weir.program.wait_for_error_text("warning " + about +
                                   "unhealthy: 40 checks failed in a row, the last: refused\n");
  b1.up();
  weir.program.wait_for_error_text("info    " + about + "healthy: 2 checks succeeded in a row\n");
  weir.program.wait_for_error_text("info    " + about +
                                   "circuit open -> closed: health_recovered\n");
  weir.program.signal(SIGTERM);
  const admin::Snapshot last = weir.wait_for_clean_exit();
  REQUIRE(last.backend("servers", "b1").health);
  CHECK(health(last, "b1").state == HealthState::healthy);
  CHECK(health(last, "b1").consecutive == 0);
  CHECK(checks_that(last, "b1", DialOutcome::refused) == 40);
  CHECK(checks_that(last, "b1", DialOutcome::connected) >= 2);
}

TEST_CASE("HLT: checks that this machine cannot make decide nothing, and are warned of once") {
  const Service b1;
  const Port port;
  Setup foreign = setup(1, checks(2, 3) + "\n    source_address: \"192.0.2.1\"", {b1.address()});
  foreign.bind = {port.on()};
  ServingProgram weir({.yaml = foreign.yaml()});
  const std::string warning =
      "warning pool servers: backend b1: not checked: no local port, or not the address";
  weir.program.wait_for_error_text(warning);
  silence(scaled(20 * kInterval));
  weir.program.signal(SIGTERM);
  const admin::Snapshot last = weir.wait_for_clean_exit();
  CHECK(health(last, "b1").state == HealthState::healthy);
  CHECK(checks_that(last, "b1", DialOutcome::local_error) >= 5);
  CHECK(count_of(weir.program.errors(), "not checked") == 1);
}

}  // namespace
}  // namespace weir::e2e
