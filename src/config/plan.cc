#include "weir/config/plan.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "config/changes.h"

namespace weir::config {
namespace {

using Names = std::map<std::string_view, const Description*>;

std::string name_of(const Description& item) { return item.find("name")->text; }

Names by_name(const Description& list) {
  Names names;
  for (const Description& item : list.children) names.emplace(item.find("name")->text, &item);
  return names;
}

class Planner {
 public:
  Planner(const Description& now, const Description& next) : now_(now), next_(next) {}

  Plan take() {
    process();
    listeners();
    pools();
    drained();
    return std::move(plan_);
  }

 private:
  // An item that is on both sides. `path` is its place in the new file.
  PlanItem& both(PlanKind kind, std::string name, const Description& now, const Description& next,
                 std::string_view level, std::string_view path) {
    Changes changes = changes_between(now, next, level, path);
    const PlanAction action = changes.rebinds         ? PlanAction::rebound
                              : !changes.keys.empty() ? PlanAction::retuned
                                                      : PlanAction::kept;
    plan_.refusals.insert(plan_.refusals.end(), changes.refusals.begin(), changes.refusals.end());
    return plan_.items.emplace_back(
        PlanItem{kind, std::move(name), action, std::move(changes.keys)});
  }

  void alone(PlanKind kind, std::string name, PlanAction action) {
    plan_.items.push_back({kind, std::move(name), action, {}});
  }

  void process() { both(PlanKind::process, "", now_, next_, "", ""); }

  void listeners() {
    const Names before = by_name(*now_.find("listeners"));
    const auto& after = next_.find("listeners")->children;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const std::string name = name_of(after[i]);
      if (const auto same = before.find(name); same != before.end()) {
        both(PlanKind::listener, name, *same->second, after[i], "listeners[]",
             fmt::format("listeners[{}].", i));
      } else {
        alone(PlanKind::listener, name, PlanAction::added);
      }
    }
  }

  void pools() {
    const Names before = by_name(*now_.find("pools"));
    const auto& after = next_.find("pools")->children;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const std::string name = name_of(after[i]);
      const auto same = before.find(name);
      if (same == before.end()) {
        alone(PlanKind::pool, name, PlanAction::added);
        all_backends(name, after[i], PlanAction::added);
        continue;
      }
      const std::string path = fmt::format("pools[{}].", i);
      PlanItem& pool = both(PlanKind::pool, name, *same->second, after[i], "pools[]", path);
      add_order(*same->second->find("backends"), *after[i].find("backends"), pool.keys);
      if (!pool.keys.empty()) pool.action = PlanAction::retuned;
      backends(name, *same->second->find("backends"), *after[i].find("backends"), path);
    }
  }

  void backends(const std::string& pool, const Description& now, const Description& next,
                const std::string& pool_path) {
    const Names before = by_name(now);
    for (std::size_t i = 0; i < next.children.size(); ++i) {
      const Description& backend = next.children[i];
      const std::string name = name_of(backend);
      const auto same = before.find(name);
      if (same == before.end()) {
        alone(PlanKind::backend, pool + '/' + name, PlanAction::added);
        continue;
      }
      PlanItem& item = both(PlanKind::backend, pool + '/' + name, *same->second, backend,
                            "pools[].backends[]", fmt::format("{}backends[{}].", pool_path, i));
      const bool moved = same->second->find("address")->text != backend.find("address")->text;
      if (moved) item.action = PlanAction::reset;
    }
  }

  void all_backends(const std::string& pool, const Description& in, PlanAction action) {
    for (const Description& backend : in.find("backends")->children) {
      alone(PlanKind::backend, pool + '/' + name_of(backend), action);
    }
  }

  void drained() {
    const Names listeners = by_name(*next_.find("listeners"));
    for (const Description& listener : now_.find("listeners")->children) {
      std::string name = name_of(listener);
      if (listeners.count(name) == 0) {
        alone(PlanKind::listener, std::move(name), PlanAction::drained);
      }
    }
    const Names pools = by_name(*next_.find("pools"));
    for (const Description& pool : now_.find("pools")->children) {
      const std::string name = name_of(pool);
      const auto same = pools.find(name);
      if (same == pools.end()) {
        alone(PlanKind::pool, name, PlanAction::drained);
        all_backends(name, pool, PlanAction::drained);
        continue;
      }
      const Names left = by_name(*same->second->find("backends"));
      for (const Description& backend : pool.find("backends")->children) {
        const std::string its_name = name_of(backend);
        if (left.count(its_name) != 0) continue;
        alone(PlanKind::backend, name + '/' + its_name, PlanAction::drained);
      }
    }
  }

  const Description& now_;
  const Description& next_;
  Plan plan_;
};

}  // namespace

Plan plan(const Configuration& now, const Configuration& next) {
  const Description before = describe(now);
  const Description after = describe(next);
  return Planner(before, after).take();
}

}  // namespace weir::config
