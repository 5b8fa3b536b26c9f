#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/core/circuit_state.h"
#include "weir/core/time.h"
#include "weir/net/journal.h"
#include "weir/upstream/duty.h"

// What one process of weir tells the next in an upgrade, as data and as text. In order: the old one
// sends its Welcome with its listening sockets; the new one loads its configuration, binds, and
// answers that it is Ready; the old one accepts nobody any more and sends its State; the new one
// begins to serve and says so; the old one closes its sockets and drains, and sends a Report
// whenever its counts have changed. Until the new one serves, the old one can go back.
namespace weir::app {

// The version of what follows here: processes that do not speak the same do not hand over.
inline constexpr int kHandoverVersion = 2;

// How the new one says that it serves. Anything else in its place is a failure: it is not.
inline constexpr std::string_view kServes = "serves";

struct Welcome {
  std::size_t sockets = 0;  // that come with it: of listeners, the admin socket, `http.listen`
  bool owns_paths = true;   // the files of unix sockets are weir's to remove
};

struct Ready {
  std::string failure;               // why it cannot take over; empty = it can
  std::vector<std::size_t> adopted;  // which sockets it has a use for, by their number
};

// What of a backend goes on. Times are of the clock that all processes of a machine share.
struct HandedBackend {
  std::string pool;
  std::string name;
  std::string address;
  upstream::Duty duty;
  core::CircuitStatus circuit;
  bool unhealthy = false;
};

// With it come the channels to processes that drain still, from upgrades before.
struct State {
  std::uint64_t generation = 1;
  std::uint64_t last_session = 0;
  std::vector<HandedBackend> backends;
  std::vector<net::Event> events;
};

// What of the limits a process that drains takes up.
struct Report {
  struct Pool {
    std::string name;
    std::uint32_t active = 0;
    std::uint32_t pending = 0;
  };
  struct Backend {
    std::string pool;
    std::string name;
    std::string address;
    std::uint32_t places = 0;  // as many as it may still come to have at once
  };
  std::vector<Pool> pools;
  std::vector<Backend> backends;
  std::string snapshot;     // all of its counts, as JSON
  std::uint64_t gifts = 0;  // how many it has had, which are among the above
};

std::string text(const Welcome& welcome);
std::string text(const Ready& ready);
std::string text(const State& state);
std::string text(const Report& report);

// Throw std::exception where the text is nothing of the kind.
Welcome read_welcome(const std::string& text);
Ready read_ready(const std::string& text);
State read_state(const std::string& text);
Report read_report(const std::string& text);

}  // namespace weir::app
