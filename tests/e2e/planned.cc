#include "tests/e2e/planned.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

namespace weir::e2e {
namespace {

using config::PlanAction;
using config::PlanItem;
using config::PlanKind;
using ShownPool = admin::Snapshot::Pool;
using ShownBackend = admin::Snapshot::Backend;
using ShownListener = admin::Snapshot::Listener;

// Those in force, or those that have sessions only.
const ShownPool* pool_in(const admin::Snapshot& now, const std::string& name, bool removed) {
  const auto found = std::find_if(now.pools.begin(), now.pools.end(), [&](const ShownPool& pool) {
    return pool.name == name && pool.removed == removed;
  });
  return found == now.pools.end() ? nullptr : &*found;
}

const ShownBackend* backend_in(const ShownPool* pool, const std::string& name, bool removed,
                               const std::string& address = {}) {
  if (pool == nullptr) return nullptr;
  const auto found =
      std::find_if(pool->backends.begin(), pool->backends.end(), [&](const ShownBackend& backend) {
        return backend.name == name && backend.removed == removed &&
               (address.empty() || backend.address == address);
      });
  return found == pool->backends.end() ? nullptr : &*found;
}

const ShownListener* listener_in(const admin::Snapshot& now, const std::string& name,
                                 bool draining) {
  const auto found =
      std::find_if(now.listeners.begin(), now.listeners.end(), [&](const ShownListener& listener) {
        return listener.name == name && listener.draining == draining;
      });
  return found == now.listeners.end() ? nullptr : &*found;
}

void check_same(const ShownBackend& before, const ShownBackend& after) {
  CHECK(after.address == before.address);
  CHECK(after.active == before.active);
  CHECK(after.dials == before.dials);
  CHECK(after.circuit.epoch == before.circuit.epoch);
  CHECK(after.circuit.phase == before.circuit.phase);
  CHECK(after.circuit.open_until == before.circuit.open_until);
  CHECK(after.circuit.transitions == before.circuit.transitions);
}

void check_fresh(const ShownBackend& backend) {
  CHECK(backend.active == 0);
  CHECK(backend.dials == decltype(backend.dials){});
  CHECK(backend.circuit.epoch == 1);
  CHECK(backend.circuit.phase == core::CircuitPhase::closed);
}

// It is the one that left, by itself or with its pool.
void check_resumed(const ShownPool* before, const ShownBackend& after) {
  const auto left =
      std::find_if(before->backends.begin(), before->backends.end(), [&](const ShownBackend& each) {
        return each.removed && each.name == after.name && each.address == after.address;
      });
  REQUIRE(left != before->backends.end());
  check_same(*left, after);
}

void check_left(const ShownBackend& before, const ShownPool* after) {
  const ShownBackend* const left = backend_in(after, before.name, true, before.address);
  CHECK((left != nullptr) == (before.active > 0));
  if (left != nullptr) check_same(before, *left);
}

void check_backend(const PlanItem& item, const admin::Snapshot& before,
                   const admin::Snapshot& after) {
  const auto slash = item.name.find('/');
  const std::string pool = item.name.substr(0, slash);
  const std::string name = item.name.substr(slash + 1);
  const ShownPool* const then = pool_in(before, pool, false);
  const ShownPool* const now = pool_in(after, pool, false);
  const ShownBackend* const was = backend_in(then, name, false);
  const ShownBackend* const is = backend_in(now, name, false);
  switch (item.action) {
    case PlanAction::kept:
    case PlanAction::retuned:
      REQUIRE(is != nullptr);
      return check_same(*was, *is);
    case PlanAction::added:
      REQUIRE(is != nullptr);
      return check_fresh(*is);
    case PlanAction::resumed:
      REQUIRE(is != nullptr);
      check_resumed(then != nullptr ? then : pool_in(before, pool, true), *is);
      if (was != nullptr) check_left(*was, now);
      return;
    case PlanAction::reset:
      REQUIRE(is != nullptr);
      check_fresh(*is);
      return check_left(*was, now);
    case PlanAction::drained:
      CHECK(is == nullptr);
      if (now != nullptr) check_left(*was, now);  // else with its pool
      return;
    case PlanAction::rebound:
      FAIL("a backend listens nowhere");
  }
}

void check_pool(const PlanItem& item, const admin::Snapshot& before, const admin::Snapshot& after) {
  const ShownPool* const was = pool_in(before, item.name, false);
  const ShownPool* const is = pool_in(after, item.name, false);
  switch (item.action) {
    case PlanAction::kept:
    case PlanAction::retuned:
      REQUIRE(is != nullptr);
      CHECK(is->active == was->active);
      CHECK(is->pending == was->pending);
      CHECK(is->totals.dials == was->totals.dials);
      CHECK(is->totals.transitions == was->totals.transitions);
      return;
    case PlanAction::added:
      REQUIRE(is != nullptr);
      CHECK(is->active == 0);
      CHECK(is->totals.dials == decltype(is->totals.dials){});
      return;
    case PlanAction::resumed: {
      REQUIRE(is != nullptr);
      const ShownPool* const left = pool_in(before, item.name, true);
      REQUIRE(left != nullptr);
      CHECK(is->active == left->active);
      CHECK(is->totals.dials == left->totals.dials);
      return;
    }
    case PlanAction::drained: {
      CHECK(is == nullptr);
      const ShownPool* const left = pool_in(after, item.name, true);
      REQUIRE((left != nullptr || was->active == 0));
      if (left == nullptr) return;
      CHECK(left->active == was->active);
      for (const ShownBackend& backend : was->backends) {
        const auto same =
            std::find_if(left->backends.begin(), left->backends.end(),
                         [&](const ShownBackend& each) { return each.address == backend.address; });
        REQUIRE(same != left->backends.end());
        check_same(backend, *same);
      }
      return;
    }
    case PlanAction::reset:
    case PlanAction::rebound:
      FAIL("not what happens to a pool");
  }
}

void check_listener(const PlanItem& item, const admin::Snapshot& before,
                    const admin::Snapshot& after) {
  const ShownListener* const was = listener_in(before, item.name, false);
  const ShownListener* const is = listener_in(after, item.name, false);
  switch (item.action) {
    case PlanAction::kept:
    case PlanAction::retuned:
      REQUIRE(is != nullptr);
      CHECK(is->bind == was->bind);
      CHECK(is->connections == was->connections);
      CHECK(is->accepted == was->accepted);
      return;
    case PlanAction::rebound:
      REQUIRE(is != nullptr);
      CHECK(is->bind != was->bind);
      CHECK(is->connections == was->connections);
      return;
    case PlanAction::added:
      REQUIRE(is != nullptr);
      CHECK(is->accepted == 0);
      return;
    case PlanAction::resumed: {
      REQUIRE(is != nullptr);
      const ShownListener* const left = listener_in(before, item.name, true);
      REQUIRE(left != nullptr);
      CHECK(is->connections == left->connections);
      CHECK(is->accepted == left->accepted);
      return;
    }
    case PlanAction::drained: {
      CHECK(is == nullptr);
      const ShownListener* const left = listener_in(after, item.name, true);
      REQUIRE((left != nullptr || was->connections == 0));
      if (left != nullptr) CHECK(left->connections == was->connections);
      return;
    }
    case PlanAction::reset:
      FAIL("not what happens to a listener");
  }
}

// What nobody uses any more is forgotten at a time of its own, perhaps between plan and reload.
std::vector<PlanItem> without_what_lives(const config::Plan& plan) {
  std::vector<PlanItem> items = plan.items;
  for (PlanItem& item : items) {
    if (item.action == PlanAction::resumed) {
      item.action = item.keys.empty() ? PlanAction::added : PlanAction::reset;
    }
  }
  return items;
}

template <typename Counts>
bool grew(const Counts& before, const Counts& after) {
  return std::equal(before.begin(), before.end(), after.begin(),
                    [](std::uint64_t a, std::uint64_t b) { return a <= b; });
}

}  // namespace

std::vector<std::string> changes(const config::Plan& plan) {
  std::vector<std::string> lines;
  for (const PlanItem& item : plan.items) {
    if (item.action != PlanAction::kept) lines.push_back(config::text(item));
  }
  return lines;
}

std::vector<std::string> reload_as_planned(TestWeir& weir, const std::string& yaml, At at) {
  const config::Plan foreseen = weir.plan(yaml);
  const admin::Snapshot before = weir.snapshot();
  const config::Plan plan = weir.reload(yaml, at).plan;
  const admin::Snapshot after = weir.snapshot();
  CHECK(without_what_lives(foreseen) == without_what_lives(plan));
  for (const PlanItem& item : plan.items) {
    INFO(config::text(item));
    switch (item.kind) {
      case PlanKind::process:
        break;
      case PlanKind::listener:
        check_listener(item, before, after);
        break;
      case PlanKind::pool:
        check_pool(item, before, after);
        break;
      case PlanKind::backend:
        check_backend(item, before, after);
        break;
    }
  }
  CHECK(changes(weir.plan(yaml)).empty());  // it is in force
  check_totals_grew(before, after);
  return changes(plan);
}

void check_totals_grew(const admin::Snapshot& before, const admin::Snapshot& after) {
  for (const ShownPool& was : before.pools) {
    for (const ShownPool& is : after.pools) {
      if (is.name != was.name) continue;
      INFO(is.name);
      CHECK(grew(was.totals.dials, is.totals.dials));
      CHECK(grew(was.totals.transitions, is.totals.transitions));
      CHECK(grew(was.totals.checks, is.totals.checks));
      CHECK(grew(was.rejected, is.rejected));
      CHECK(grew(was.retries, is.retries));
      CHECK(was.retry_budget_denied <= is.retry_budget_denied);
    }
  }
  for (const ShownListener& was : before.listeners) {
    for (const ShownListener& is : after.listeners) {
      if (is.name != was.name) continue;
      INFO(is.name);
      CHECK(was.accepted <= is.accepted);
      CHECK(grew(was.closed, is.closed));
    }
  }
}

void check_gauges_add_up(const admin::Snapshot& now) {
  std::uint64_t all = 0;
  for (const ShownPool& pool : now.pools) {
    INFO(pool.name);
    std::uint64_t sum = 0;
    for (const ShownBackend& backend : pool.backends) sum += backend.active;
    CHECK(pool.active == sum);
    all += pool.active;
  }
  CHECK(now.sessions == all);
}

}  // namespace weir::e2e
