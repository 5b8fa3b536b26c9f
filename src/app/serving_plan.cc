// What a plan cannot know from two configurations: what is gone from the one in force and lives on.

#include <algorithm>
#include <memory>
#include <string>

#include "weir/app/serving.h"

namespace weir::app {
namespace {

using config::PlanAction;
using config::PlanItem;
using config::PlanKind;

PlanItem* find_new(config::Plan& plan, PlanKind kind, const std::string& name) {
  const auto found = std::find_if(plan.items.begin(), plan.items.end(), [&](const PlanItem& item) {
    const bool is_new = item.action == PlanAction::added || item.action == PlanAction::reset;
    return is_new && item.kind == kind && item.name == name;
  });
  return found == plan.items.end() ? nullptr : &*found;
}

void resume(config::Plan& plan, PlanKind kind, const std::string& name) {
  if (PlanItem* const item = find_new(plan, kind, name)) item->action = PlanAction::resumed;
}

bool has(const upstream::Pool& pool, const upstream::BackendOptions& options) {
  const auto backend = pool.find(options.name);
  return backend && backend->endpoint() == options.address;
}

}  // namespace

// As take() goes about it: by the name of listeners and pools, and by a backend's address too.
void Serving::mark_resumed(const config::Configuration& next, config::Plan& plan) const {
  for (const Leaving& leaving : leaving_) resume(plan, PlanKind::listener, leaving.state->name());
  for (const upstream::PoolOptions& options : next.pools) {
    std::shared_ptr<upstream::Pool> before = pool(options.name);
    const bool gone = !before;
    if (gone) {
      before = find(removed_pools_, options.name);
      if (!before) continue;
      resume(plan, PlanKind::pool, options.name);
    }
    for (const upstream::BackendOptions& backend : options.backends) {
      if ((gone && has(*before, backend)) || before->state().would_take_back(backend)) {
        resume(plan, PlanKind::backend, options.name + '/' + backend.name);
      }
    }
  }
}

}  // namespace weir::app
