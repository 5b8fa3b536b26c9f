#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/test_weir.h"
#include "weir/admin/control.h"

// An operator's orders to a weir in this process, about the pool `servers`.
namespace weir::e2e {

inline bool disable(TestWeir& weir, const std::string& backend) {
  bool done = false;
  weir.control([&](admin::Control& control) { done = control.disable("servers", backend); });
  return done;
}

inline bool enable(TestWeir& weir, const std::string& backend) {
  bool done = false;
  weir.control([&](admin::Control& control) { done = control.enable("servers", backend); });
  return done;
}

inline bool drain(TestWeir& weir, const std::string& backend,
                  std::optional<milliseconds> deadline = std::nullopt) {
  bool done = false;
  weir.control(
      [&](admin::Control& control) { done = control.drain("servers", backend, deadline); });
  return done;
}

inline bool order(TestWeir& weir, const std::string& backend, admin::CircuitOrder order) {
  bool done = false;
  weir.control([&](admin::Control& control) { done = control.order("servers", backend, order); });
  return done;
}

inline bool kill(TestWeir& weir, std::uint64_t session) {
  bool done = false;
  weir.control([&](admin::Control& control) { done = control.kill(session); });
  return done;
}

inline std::size_t kill_all(TestWeir& weir, const std::string& backend) {
  std::size_t killed = 0;
  weir.control([&](admin::Control& control) { killed = control.kill("servers", backend); });
  return killed;
}

inline std::vector<proxy::SessionView> sessions(TestWeir& weir) {
  std::vector<proxy::SessionView> found;
  weir.control([&](admin::Control& control) { found = control.sessions({}, 1000).sessions; });
  return found;
}

// What the journal has: `drain servers/b1 draining`.
inline std::vector<std::string> told(TestWeir& weir) {
  std::vector<std::string> lines;
  weir.control([&](admin::Control& control) {
    for (const net::Event& event : control.journal().since(0)) {
      lines.push_back(
          fmt::format("{} {}/{} {}", name(event.kind), event.pool, event.backend, event.to));
    }
  });
  return lines;
}

inline void wait_until_told(TestWeir& weir, const std::vector<std::string>& lines,
                            At at = At::here()) {
  const auto until = Clock::now() + patience();
  while (told(weir) != lines) {
    if (Clock::now() >= until) {
      throw ScriptFailure(fmt::format("the journal has\n{}\nand not\n{}",
                                      fmt::join(told(weir), "\n"), fmt::join(lines, "\n")),
                          at);
    }
    silence(1ms);
  }
}

inline upstream::BackendState state(const TestWeir& weir, const std::string& backend) {
  return weir.snapshot().backend("servers", backend).state;
}

}  // namespace weir::e2e
