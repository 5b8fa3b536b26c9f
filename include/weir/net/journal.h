#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "weir/core/time.h"
#include "weir/net/wall_clock.h"

namespace weir::net {

// What an event of the journal is about: one closed list, the same words in the API.
enum class EventKind : std::uint8_t {
  circuit,   // a backend's circuit changed its phase, or an operator gave it an order
  health,    // active checks turned a backend
  drain,     // a backend began to drain or has drained
  disable,   // an operator took a backend out of service
  enable,    // and back in
  removed,   // a backend left the configuration, or the last of its sessions has ended
  kill,      // an operator ended sessions
  reload,    // the configuration was replaced, or was not
  upgrade,   // another program takes over, or did not
  shutdown,  // the whole of weir drains
};

std::string_view name(EventKind kind);

struct Event {
  std::uint64_t seq = 0;  // from 1, without gaps
  WallTime at{};
  EventKind kind = EventKind::circuit;
  std::string pool;     // empty where it is about no pool
  std::string backend;  // likewise
  std::string to;       // what it came to: `open`, `unhealthy`, `drained`, `refused`
  std::string cause;    // why, for people
};

// What happened lately and why: the newest events, kept in memory for the API. Shared by all; any
// thread. Adding never waits for anything but another event.
class Journal {
 public:
  static constexpr std::size_t kKept = 1000;  // days of an ordinary life, minutes of a bad one

  // Of a moment on the loops' clock, or of now.
  void add(EventKind kind, std::string pool, std::string backend, std::string to, std::string cause,
           core::TimePoint at);
  void add(EventKind kind, std::string pool, std::string backend, std::string to,
           std::string cause);

  // Those of the process before this one, in order; before any of its own.
  void restore(std::vector<Event> events);

  // The kept ones after `seq`, in order.
  std::vector<Event> since(std::uint64_t seq) const;
  // The last one's; 0 = nothing has happened yet.
  std::uint64_t last() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::deque<Event> events_;
};

}  // namespace weir::net
