#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "weir/core/time.h"

namespace weir::simulation {

// Something that will happen; of one moment, what was scheduled first comes first.
struct Event {
  enum class Kind {
    // Of the world.
    arrival,
    backend_turns,
    reload,
    order,
    recovery,
    clock_jumps,
    shutdown,
    kill,
    // Of one client.
    client_leaves,
    told,
    pending_timeout,
    // Of one client's turn.
    choose,
    dial_ends,
    first_byte,
    relay_ends,
  };

  core::TimePoint at;
  std::uint64_t order;
  Kind kind;
  std::size_t client;
  std::uint64_t turn;
  bool operator>(const Event& other) const {
    return std::pair(at, order) > std::pair(other.at, other.order);
  }
};

class Timeline {
 public:
  void add(core::TimePoint at, Event::Kind kind, std::size_t client = 0, std::uint64_t turn = 0) {
    events_.push({at, scheduled_++, kind, client, turn});
  }
  bool empty() const { return events_.empty(); }
  Event next() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }
  std::uint64_t scheduled() const { return scheduled_; }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace weir::simulation
