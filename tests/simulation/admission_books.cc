#include "tests/simulation/admission_books.h"

#include <algorithm>

namespace weir::simulation {

using core::CloseReason;

AdmissionBooks::Arrival AdmissionBooks::arrives(std::size_t client, std::size_t generation) {
  if (queue_.empty() && slot_free()) {
    ++snapshot_.active;
    return {Answer::granted, {}};
  }
  if (queue_.size() >= snapshot_.max_pending || shut_down_) {
    const CloseReason reason = queue_.size() >= snapshot_.max_pending
                                   ? CloseReason::proxy_overloaded
                                   : CloseReason::shutdown;
    count(reason);
    return {Answer::refused, reason};
  }
  queue_.push_back({client, generation});
  return {Answer::parked, {}};
}

void AdmissionBooks::gives_back() {
  --snapshot_.active;
  if (!queue_.empty() && slot_free()) grant_next();
}

CloseReason AdmissionBooks::leaves(std::size_t client, CloseReason reason) {
  const auto place = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const Waiting& who) { return who.client == client; });
  if (place != queue_.end()) {
    queue_.erase(place);
  } else if (const auto decision = tell(client)) {
    if (decision->refused) return *decision->refused;
    gives_back();
  }
  count(reason);
  return reason;
}

void AdmissionBooks::set_limits(core::AdmissionLimits limits) {
  snapshot_.max_active = limits.max_active;
  snapshot_.max_pending = limits.max_pending;
  while (!queue_.empty() && slot_free()) grant_next();
  while (queue_.size() > limits.max_pending) {
    refuse(std::prev(queue_.end()), CloseReason::proxy_overloaded);
  }
}

void AdmissionBooks::retire(std::size_t generation) {
  for (;;) {
    const auto place = std::find_if(queue_.begin(), queue_.end(), [&](const Waiting& who) {
      return who.generation == generation;
    });
    if (place == queue_.end()) return;
    refuse(place, CloseReason::upstream_unavailable);
  }
}

void AdmissionBooks::shut_down() {
  shut_down_ = true;
  while (!queue_.empty()) refuse(queue_.begin(), CloseReason::shutdown);
}

std::optional<AdmissionBooks::Decision> AdmissionBooks::tell(std::size_t client) {
  const auto node = untold_.extract(client);
  return node ? std::optional(node.mapped()) : std::nullopt;
}

std::uint64_t AdmissionBooks::untold_grants() const {
  return static_cast<std::uint64_t>(std::count_if(
      untold_.begin(), untold_.end(), [](const auto& entry) { return !entry.second.refused; }));
}

core::AdmissionSnapshot AdmissionBooks::snapshot() const {
  core::AdmissionSnapshot snapshot = snapshot_;
  snapshot.pending = queue_.size();
  return snapshot;
}

void AdmissionBooks::grant_next() {
  ++snapshot_.active;
  const Decision decision{queue_.front().client, std::nullopt};
  queue_.pop_front();
  decided_.push_back(decision);
  untold_.emplace(decision.client, decision);
}

void AdmissionBooks::refuse(std::deque<Waiting>::iterator who, CloseReason reason) {
  const Decision decision{who->client, reason};
  queue_.erase(who);
  count(reason);
  decided_.push_back(decision);
  untold_.emplace(decision.client, decision);
}

}  // namespace weir::simulation
