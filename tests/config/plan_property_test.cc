#include <map>
#include <set>

#include "tests/config/random_configuration.h"
#include "weir/config/plan.h"

namespace weir::config {
namespace {

template <typename Item>
const Item* named(const std::vector<Item>& items, const std::string& name) {
  for (const Item& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

std::set<std::string> addresses_of(const proxy::ListenerOptions& listener) {
  std::set<std::string> texts;
  for (const core::Endpoint& bind : listener.bind) texts.insert(bind.text());
  return texts;
}

// What the plan has to be, from the options alone: every item once, in its place, with its action.
class Expected {
 public:
  Expected(const Configuration& now, const Configuration& next) : now_(now), next_(next) {
    add(PlanKind::process, "", process());
    for (const auto& listener : next.listeners) {
      const auto* before = named(now.listeners, listener.name);
      add(PlanKind::listener, listener.name, before ? of(*before, listener) : PlanAction::added);
    }
    for (const auto& pool : next.pools) {
      const auto* before = named(now.pools, pool.name);
      add(PlanKind::pool, pool.name, before ? of(*before, pool) : PlanAction::added);
      for (const auto& backend : pool.backends) {
        const auto* old = before ? named(before->backends, backend.name) : nullptr;
        add(PlanKind::backend, pool.name + "/" + backend.name,
            old ? of(*old, backend) : PlanAction::added);
      }
    }
    drained();
  }

  std::vector<PlanItem> items;  // without keys

 private:
  void add(PlanKind kind, std::string name, PlanAction action) {
    items.push_back({kind, std::move(name), action, {}});
  }

  PlanAction process() const {
    app::AppOptions hot = now_.app;
    hot.workers = next_.app.workers;
    hot.admin_socket = next_.app.admin_socket;
    hot.admin_mode = next_.app.admin_mode;
    hot.admin_owner = next_.app.admin_owner;
    return hot == next_.app ? PlanAction::kept : PlanAction::retuned;
  }

  static PlanAction of(const proxy::ListenerOptions& now, proxy::ListenerOptions next) {
    if (addresses_of(now) != addresses_of(next)) return PlanAction::rebound;
    next.bind = now.bind;
    return now == next ? PlanAction::kept : PlanAction::retuned;
  }

  static PlanAction of(upstream::PoolOptions now, upstream::PoolOptions next) {
    std::vector<std::string> before;
    std::vector<std::string> after;
    for (const auto& one : now.backends) {
      if (named(next.backends, one.name)) before.push_back(one.name);
    }
    for (const auto& one : next.backends) {
      if (named(now.backends, one.name)) after.push_back(one.name);
    }
    now.backends.clear();
    next.backends.clear();
    return now == next && before == after ? PlanAction::kept : PlanAction::retuned;
  }

  static PlanAction of(const upstream::BackendOptions& now, const upstream::BackendOptions& next) {
    if (now.address != next.address) return PlanAction::reset;
    return now == next ? PlanAction::kept : PlanAction::retuned;
  }

  void drained() {
    for (const auto& listener : now_.listeners) {
      if (named(next_.listeners, listener.name)) continue;
      add(PlanKind::listener, listener.name, PlanAction::drained);
    }
    for (const auto& pool : now_.pools) {
      const auto* left = named(next_.pools, pool.name);
      if (!left) add(PlanKind::pool, pool.name, PlanAction::drained);
      for (const auto& backend : pool.backends) {
        if (left && named(left->backends, backend.name)) continue;
        add(PlanKind::backend, pool.name + "/" + backend.name, PlanAction::drained);
      }
    }
  }

  const Configuration& now_;
  const Configuration& next_;
};

std::vector<std::string> texts_of(std::vector<PlanItem> items) {
  std::vector<std::string> texts;
  for (PlanItem& item : items) {
    item.keys.clear();
    texts.push_back(text(item));
  }
  return texts;
}

}  // namespace

TEST_CASE("a plan from any configuration to itself keeps everything") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    RandomConfiguration random(seed);
    random.change(15);
    const Plan made = plan(random.get(), random.get());
    CHECK(made.refusals.empty());
    for (const PlanItem& item : made.items) {
      CAPTURE(text(item));
      CHECK(item.action == PlanAction::kept);
      CHECK(item.keys.empty());
    }
  }
}

TEST_CASE("between any two configurations every part of both has one item and one action") {
  std::map<PlanAction, int> seen;
  int refusals = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    RandomConfiguration random(seed);
    for (int round = 0; round < 6; ++round) {
      const Configuration now = random.get();
      random.change(1 + random.rng().below(10));
      const Plan made = plan(now, random.get());
      CHECK(texts_of(made.items) == texts_of(Expected(now, random.get()).items));
      for (const PlanItem& item : made.items) {
        ++seen[item.action];
        const bool says_how = item.action != PlanAction::kept && item.action != PlanAction::added &&
                              item.action != PlanAction::drained;
        CHECK(item.keys.empty() != says_how);
        for (const KeyChange& change : item.keys) CHECK(change.from != change.to);
      }
      const app::AppOptions& old = now.app;
      const app::AppOptions& fresh = random.get().app;
      const int expected =
          (old.workers != fresh.workers) + (old.admin_socket != fresh.admin_socket) +
          (old.admin_mode != fresh.admin_mode) + (old.admin_owner != fresh.admin_owner);
      CHECK(made.refusals.size() == static_cast<std::size_t>(expected));
      refusals += expected;
    }
  }
  CHECK(seen.size() == 6);  // the pairs were not all alike
  for (const auto& action : seen) {
    CAPTURE(text(action.first));
    CHECK(action.second >= 10);
  }
  CHECK(refusals > 20);
}

TEST_CASE("a change of any one key is one change in the plan, done as its reload class says") {
  std::string file = file_with_every_key();
  const auto replace = [&](const std::string& old, const std::string& with) {
    REQUIRE(file.find(old) != std::string::npos);
    file.replace(file.find(old), old.size(), with);
  };
  replace("max_active_requests: 0", "max_active_requests: 50");  // a queue needs it
  file += "  - {name: b, resilience: {max_fails: 2}, backends: [{name: c, address: \"db:1\"}]}\n";
  const Configuration now = must_load(file);
  core::Rng rng(5);
  for (const Key& key : all_keys()) {
    const std::string path(key.path);
    CAPTURE(path);
    if (key.type == Type::name || path.ends_with(".circuit_success")) continue;  // more than one
    if (key.type == Type::choice && words_of(key.allowed).size() == 1) continue;
    std::optional<Configuration> next;
    std::string from;
    std::string to;
    for (int tries = 0; !next || *next == now; ++tries) {
      REQUIRE(tries < 1000);
      Description tree = describe(now);
      Description* value = first_at(tree, key.path);
      REQUIRE(value);
      if (key.type == Type::networks)
        value->children.assign(1, {Description::Kind::text, "", "", {}});
      if (key.type == Type::addresses || key.type == Type::networks) value = &value->children[0];
      from = value->text;
      value->text = to = random_value(key, rng);
      next = load_all_said(yaml(tree)).configuration;
    }
    const Plan made = plan(now, *next);
    std::vector<const PlanItem*> changed;
    for (const PlanItem& item : made.items) {
      if (item.action != PlanAction::kept) changed.push_back(&item);
    }
    if (key.reload == ReloadClass::upgrade) {
      CHECK(changed.empty());
      REQUIRE(made.refusals.size() == 1);
      CHECK(made.refusals[0].path == path);
      continue;
    }
    CHECK(made.refusals.empty());
    REQUIRE(changed.size() == 1);
    const PlanItem& item = *changed[0];
    const std::size_t item_end = path.rfind("[].");
    const std::string below = item_end == std::string::npos ? path : path.substr(item_end + 3);
    REQUIRE_FALSE(item.keys.empty());
    for (const KeyChange& change : item.keys) CHECK(change.key == below);
    if (key.type == Type::address && path.starts_with("pools")) {
      CHECK(item.action == PlanAction::reset);
    } else if (key.reload == ReloadClass::listener_rebound) {
      CHECK(item.action == PlanAction::rebound);
      continue;
    } else {
      CHECK(item.action == PlanAction::retuned);
    }
    CHECK(item.keys.size() == 1);
    CHECK(item.keys[0].from == from);
    CHECK((item.keys[0].to == to || parse_duration(item.keys[0].to) == parse_duration(to)));
  }
}

}  // namespace weir::config
