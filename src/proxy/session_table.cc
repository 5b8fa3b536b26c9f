#include "weir/proxy/session_table.h"

#include <utility>

#include "weir/net/socket_set.h"
#include "weir/proxy/session.h"

namespace weir::proxy {

SessionTable::SessionTable(net::Loop& loop, std::uint64_t last, std::size_t workers,
                           std::atomic<std::size_t>& gauge)
    : loop_(loop), gauge_(gauge), next_id_(last + 1), workers_(workers) {}

SessionTable::~SessionTable() = default;

std::uint64_t SessionTable::next_id() { return std::exchange(next_id_, next_id_ + workers_); }

Session& SessionTable::add(std::unique_ptr<Session> session) {
  Session& added = *session;
  live_.emplace(added.id(), std::move(session));
  show_size();
  return added;
}

void SessionTable::retire(Session& session) {
  auto node = live_.extract(session.id());
  if (node.empty()) return;
  retired_.push_back(std::move(node.mapped()));
  show_size();
  loop_.sockets().resume_later(*this);
}

Session* SessionTable::find(std::uint64_t id) {
  const auto found = live_.find(id);
  return found == live_.end() ? nullptr : found->second.get();
}

void SessionTable::for_each(const std::function<void(Session&)>& visit) {
  std::vector<std::uint64_t> ids;
  ids.reserve(live_.size());
  for (const auto& [id, session] : live_) ids.push_back(id);
  for (const std::uint64_t id : ids) {
    if (const auto found = live_.find(id); found != live_.end()) visit(*found->second);
  }
}

void SessionTable::resume() {
  retired_.clear();
  if (live_.empty() && on_empty_) on_empty_();
}

}  // namespace weir::proxy
