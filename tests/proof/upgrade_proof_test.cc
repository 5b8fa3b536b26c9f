#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// What weir promises of reloads and upgrades, for half a minute and under load.
namespace weir::e2e {
namespace {

constexpr std::size_t kRate = 300;  // connections a second, of all threads
constexpr std::size_t kThreads = 6;
constexpr std::chrono::seconds kTime(30);
constexpr std::size_t kLong = 20;
constexpr std::size_t kReloads = 20;

struct Tally {
  std::size_t served = 0;
  std::size_t refused = 0;
  std::size_t reset = 0;
  std::size_t ended = 0;  // without an answer
  std::size_t wrong = 0;

  void add(const Tally& other) {
    served += other.served;
    refused += other.refused;
    reset += other.reset;
    ended += other.ended;
    wrong += other.wrong;
  }
};

// Up to some 6 KiB that no other connection sends.
std::string text_of(std::size_t connection) {
  std::string text;
  for (std::size_t i = 0; i <= connection % 300; ++i) text += fmt::format("{}:{};", connection, i);
  return text;
}

void one_connection(const net::SocketAddress& to, std::size_t number, Tally& tally) {
  std::optional<Stream> client;
  try {
    client.emplace(Stream::connect(to));
  } catch (const ScriptFailure&) {
    ++tally.refused;
    return;
  }
  try {
    const std::string text = text_of(number);
    client->say(text);
    switch (client->hear_or_ending(text)) {
      case Heard::text:
        break;
      case Heard::end:
        ++tally.ended;
        return;
      case Heard::reset:
        ++tally.reset;
        return;
    }
    client->shutdown_write();
    client->expect_ending() == Ending::end ? ++tally.served : ++tally.reset;
  } catch (const ScriptFailure&) {
    ++tally.wrong;
  }
}

// Its share of the connections, each at its time.
Tally clients(const net::SocketAddress& to, std::size_t first, Clock::time_point start) {
  Tally tally;
  const std::size_t all = kRate * static_cast<std::size_t>(kTime.count());
  for (std::size_t number = first; number < all; number += kThreads) {
    std::this_thread::sleep_until(start + std::chrono::microseconds(1'000'000 / kRate * number));
    one_connection(to, number, tally);
  }
  return tally;
}

// Round by round another configuration: limits, backends, a listener that comes and goes.
std::string yaml(std::size_t round, const Port& port, const Port& other,
                 const std::vector<std::string>& backends) {
  std::string text = fmt::format(
      "shutdown: {{deadline: 120s}}\nworkers: 4\nlisteners:\n"
      "  - {{name: front, pool: servers, bind: [\"{}\"], max_connections: {}}}\n",
      port.on(), round % 2 * 5000);
  if (round % 3 == 0) {
    text += fmt::format("  - {{name: other, pool: servers, bind: [\"{}\"]}}\n", other.on());
  }
  text += fmt::format(
      "pools:\n  - name: servers\n    balance: {}\n    resilience: {{max_active_requests: {}}}\n   "
      " backends:\n",
      round % 2 == 0 ? "round_robin" : "least_connections", 2000 + round);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (round % 4 == 3 && i == 2) continue;  // it leaves, and comes back
    text += fmt::format("      - {{name: b{}, address: \"{}\"}}\n", i + 1, backends[i]);
  }
  return text;
}

TEST_CASE("300 connections a second, 20 reloads and 2 upgrades: none refused, reset or garbled") {
  const auto backends = services(3);
  const std::vector<std::string> addresses = addresses_of(backends);
  const Port port;
  const Port other;
  Lineage weir({.yaml = yaml(0, port, other, addresses)});
  std::vector<Stream> sessions;
  for (std::size_t i = 0; i < kLong; ++i) {
    sessions.push_back(Stream::connect(port.address()));
    ask(sessions.back());
  }
  const auto start = Clock::now();
  std::vector<std::future<Tally>> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.push_back(
        std::async(std::launch::async, [&, i] { return clients(port.address(), i, start); }));
  }
  for (std::size_t round = 1; round <= kReloads; ++round) {
    std::this_thread::sleep_until(start + kTime * round / (kReloads + 1));
    if (round == 7 || round == 14) weir.upgrade();
    write_file(weir.first.config_file(),
               "admin: {socket: admin.sock}\nlog: {access: \"access.log\"}\n" +
                   yaml(round, port, other, addresses));
    const std::uint64_t before = weir.json("GET /v1/status")["config_generation"].count();
    weir.signal(weir.serving(), SIGHUP);
    weir.wait_until("GET /v1/status", [before](const Json& status) {
      return status["config_generation"].count() == before + 1;
    });
    for (Stream& session : sessions) ask(session);
  }
  Tally all;
  for (auto& each : threads) all.add(each.get());
  for (Stream& session : sessions) ask(session);
  CHECK(all.refused == 0);
  CHECK(all.reset == 0);
  CHECK(all.ended == 0);
  CHECK(all.wrong == 0);
  CHECK(all.served == kRate * static_cast<std::size_t>(kTime.count()));
  CHECK(count_of(weir.errors(), "took over") == 2);
  const double accepted = weir.metric(R"(weir_listener_accepted_total{listener="front"})");
  CHECK(accepted == static_cast<double>(all.served + kLong));
  sessions.clear();
  weir.shut_down();
  weir.first.log(all.served + kLong);
}

}  // namespace
}  // namespace weir::e2e
