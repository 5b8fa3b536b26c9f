#include "weir/net/journal.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "weir/net/steady_clock.h"

namespace weir::net {

std::string_view name(EventKind kind) {
  switch (kind) {
    case EventKind::circuit:
      return "circuit";
    case EventKind::health:
      return "health";
    case EventKind::drain:
      return "drain";
    case EventKind::disable:
      return "disable";
    case EventKind::enable:
      return "enable";
    case EventKind::removed:
      return "removed";
    case EventKind::kill:
      return "kill";
    case EventKind::reload:
      return "reload";
    case EventKind::upgrade:
      return "upgrade";
    case EventKind::shutdown:
      return "shutdown";
  }
  return {};
}

void Journal::add(EventKind kind, std::string pool, std::string backend, std::string to,
                  std::string cause, core::TimePoint at) {
  const auto ago = std::chrono::floor<std::chrono::milliseconds>(steady_now() - at);
  Event event{0,
              wall_now() - ago,
              kind,
              std::move(pool),
              std::move(backend),
              std::move(to),
              std::move(cause)};
  const std::lock_guard lock(mutex_);
  event.seq = ++last_;
  events_.push_back(std::move(event));
  if (events_.size() > kKept) events_.pop_front();
}

void Journal::add(EventKind kind, std::string pool, std::string backend, std::string to,
                  std::string cause) {
  add(kind, std::move(pool), std::move(backend), std::move(to), std::move(cause), steady_now());
}

void Journal::restore(std::vector<Event> events) {
  const std::lock_guard lock(mutex_);
  if (events.empty()) return;
  last_ = events.back().seq;
  events_.assign(std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
}

std::vector<Event> Journal::since(std::uint64_t seq) const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> found;
  for (const Event& event : events_) {
    if (event.seq > seq) found.push_back(event);
  }
  return found;
}

std::uint64_t Journal::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

}  // namespace weir::net
