#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/test_weir.h"

// What scripts about backends that fail, and come back, share.
namespace weir::e2e {

struct PoolMember {
  std::string address;
  int priority = 0;
};

// A pool `servers` of backends b1, b2, ..., the first always preferred.
inline std::string circuits_yaml(int workers, const std::string& resilience,
                                 const std::vector<PoolMember>& backends,
                                 const std::string& timeouts = "connect: 5s") {
  std::string text = fmt::format(
      "workers: {}\nlisteners: [{{name: front, pool: servers, bind: [\"127.0.0.1:1\"]}}]\n"
      "pools:\n  - name: servers\n    balance: first\n    resilience: {{{}}}\n"
      "    timeouts: {{{}}}\n    backends:\n",
      workers, resilience, timeouts);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    text += fmt::format("      - {{name: b{}, address: \"{}\", priority: {}}}\n", i + 1,
                        backends[i].address, backends[i].priority);
  }
  return text;
}

inline std::string circuit_keys(int max_fails, milliseconds fail_timeout,
                                const std::string& more = {}) {
  return fmt::format("max_fails: {}, fail_timeout: {}{}", max_fails, scaled_ms(fail_timeout), more);
}

// One client from hello to goodbye; answers its line of the log. `clients` is how many lines there
// are before.
inline LogEntry one_client(const TestWeir& weir, std::size_t& clients, At at = At::here()) {
  Stream client = weir.connect();
  client.say("q", at);
  if (client.hear_if_anything("q", at)) {
    client.close();
  } else {
    client.expect_end(at);
    client.close();
  }
  return weir.log(++clients, at).back();
}

// A session in which the client asks, the backend hears it, and then does what the script says.
struct Asked {
  Asked(const TestWeir& weir, Backend& server) : client(weir.connect()) {
    client.say("q");
    backend.emplace(server.accept());
    backend->hear("q");
  }
  void answer() {
    backend->say("a");
    client.hear("a");
  }
  void end() {
    client.close();
    backend->expect_end();
    backend->close();
  }
  Stream client;
  std::optional<Stream> backend;
};

inline core::CircuitStatus circuit(const TestWeir& weir, const std::string& backend = "b1") {
  return weir.snapshot().backend("servers", backend).circuit;
}

inline void wait_for_phase(const TestWeir& weir, const std::string& backend,
                           core::CircuitPhase phase, At at = At::here()) {
  weir.wait_until(
      [&](const admin::Snapshot& now) {
        return now.backend("servers", backend).circuit.phase == phase;
      },
      fmt::format("{} is {}", backend, name(phase)), at);
}

inline void wait_for_probe_due(const TestWeir& weir, const std::string& backend,
                               At at = At::here()) {
  weir.wait_until(
      [&](const admin::Snapshot& now) { return now.backend("servers", backend).circuit.probe_due; },
      "the probe is due", at);
}

inline void wait_for_dialing(const TestWeir& weir, std::uint64_t dials, At at = At::here()) {
  weir.wait_until(
      [&](const admin::Snapshot& now) { return now.backend("servers", "b1").dialing == dials; },
      fmt::format("{} dials are under way", dials), at);
}

inline std::uint64_t times_entered(const core::CircuitStatus& status, core::CircuitPhase phase) {
  return status.transitions[static_cast<std::size_t>(phase)];
}

inline std::uint64_t dials_that(const TestWeir& weir, core::DialOutcome outcome) {
  return weir.snapshot().backend("servers", "b1").dials_that(outcome);
}

}  // namespace weir::e2e
