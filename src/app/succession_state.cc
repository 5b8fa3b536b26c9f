// What the process that goes tells of itself.

#include <algorithm>

#include "app/succession.h"

namespace weir::app {

State Succession::state() {
  State state;
  state.generation = process_.generation();
  state.last_session = last_session_;
  state.events = engine_.journal.since(0);
  const core::TimePoint now = engine_.control.refresh_now();
  for (const auto& pool : engine_.serving.pools()) {
    for (const auto& backend : pool->backends()) {
      HandedBackend& handed = state.backends.emplace_back();
      handed.pool = pool->options().name;
      handed.name = backend->name();
      handed.address = backend->address_text();
      handed.duty = backend->duty();
      handed.circuit = backend->circuit_status(now);
      handed.unhealthy = !backend->healthy();
    }
  }
  return state;
}

// A backend's limit is shared with the new process: what we say here we keep to. That is who is
// there, and who may still come: clients that have a slot and no backend yet, and those that wait
// for the slots of others, who leave their places to them. It never rises.
std::uint32_t Succession::places(const upstream::Backend& backend, std::uint32_t undialled,
                                 bool waits) {
  const upstream::Backend::Occupancy now = backend.occupancy();
  const auto found = ceilings_.find(&backend);
  const std::uint32_t before = found == ceilings_.end() ? UINT32_MAX : found->second;
  std::uint32_t most = std::min(before, now.active + now.alone + undialled);
  if (waits && found != ceilings_.end()) most = before;
  ceilings_[&backend] = most;
  return most;
}

Report Succession::report() {
  Report report;
  for (const auto& pool : engine_.serving.all_pools()) {
    const std::string& name = pool->options().name;
    const core::AdmissionSnapshot admission = pool->admission().snapshot();
    report.pools.push_back({name, static_cast<std::uint32_t>(admission.active),
                            static_cast<std::uint32_t>(admission.pending)});
    // Whoever dials may have to dial another; who is on a backend that was removed stays there.
    std::uint64_t dialled = 0;
    const std::vector<std::shared_ptr<upstream::Backend>> all = pool->with_removed();
    for (const auto& backend : all) {
      const upstream::Backend::Occupancy now = backend->occupancy();
      dialled += now.active - std::min(now.active, now.dialing);
    }
    const auto undialled =
        static_cast<std::uint32_t>(admission.active - std::min(admission.active, dialled));
    for (const auto& backend : all) {
      const std::uint32_t most = places(*backend, undialled, admission.pending > 0);
      backend->set_ceiling(most);
      report.backends.push_back({name, backend->name(), backend->address_text(), most});
    }
  }
  report.gifts = gifts_;
  return report;
}

// Places first: who is let in by a slot looks for one.
void Succession::take_gift(const Errand& gift) {
  gifts_ = gift.number;
  for (const auto& pool : engine_.serving.all_pools()) {
    if (pool->options().name != gift.filter.pool) continue;
    for (const Errand::Places& each : gift.places) {
      const auto backend = pool->find(each.backend);
      if (!backend || backend->address_text() != each.address) continue;
      backend->take_from_elsewhere(each.places);
      const auto ceiling = ceilings_.find(backend.get());
      if (ceiling == ceilings_.end()) continue;
      ceiling->second += each.places;
      backend->set_ceiling(ceiling->second);
    }
    pool->admission().take_from_elsewhere(gift.slots);
  }
}

}  // namespace weir::app
