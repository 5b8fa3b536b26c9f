#include "config/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "config/keys.h"

namespace weir::config {
namespace {

using Texts = std::set<std::string, std::less<>>;

// The value at `timeouts.connect`, empty where there is none.
std::string value_at(const Description& item, std::string_view path) {
  const Description* place = &item;
  while (place && !path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    place = place->find(part);
  }
  return place ? place->text : "";
}

// What `key` is called within an item of this level (`pools[]`, empty for the process). Empty for
// keys of other levels, those of a list within this one among them.
std::string_view within(std::string_view key, std::string_view level) {
  if (!level.empty()) {
    if (!key.starts_with(level)) return {};
    key.remove_prefix(level.size());
    if (!key.starts_with('.')) return {};
    key.remove_prefix(1);
  }
  return key.find("[]") == std::string_view::npos ? key : std::string_view();
}

Texts texts_of(const Description& list) {
  Texts texts;
  for (const Description& item : list.children) texts.insert(item.text);
  return texts;
}

// Whether `[::]` takes IPv4 too depends on the addresses beside it.
bool changes_family(const std::string& address, const Texts& now, const Texts& next) {
  constexpr std::string_view kAnyIpv6 = "[::]:";
  if (!address.starts_with(kAnyIpv6)) return false;
  const std::string any_ipv4 = "0.0.0.0:" + address.substr(kAnyIpv6.size());
  return now.count(any_ipv4) != next.count(any_ipv4);
}

void compare_lists(std::string_view key, const Description& now, const Description& next,
                   std::vector<KeyChange>& changes) {
  const Texts before = texts_of(now);
  const Texts after = texts_of(next);
  for (const Description& address : now.children) {
    if (after.count(address.text) == 0 || changes_family(address.text, before, after)) {
      changes.push_back({std::string(key), address.text, ""});
    }
  }
  for (const Description& address : next.children) {
    if (before.count(address.text) == 0 || changes_family(address.text, before, after)) {
      changes.push_back({std::string(key), "", address.text});
    }
  }
}

// The names in `list` that are in `others` as well.
std::vector<std::string_view> common_names(const Description& list, const Description& others) {
  std::set<std::string_view> known;
  for (const Description& item : others.children) known.insert(item.find("name")->text);
  std::vector<std::string_view> names;
  for (const Description& item : list.children) {
    const std::string_view name = item.find("name")->text;
    if (known.count(name) != 0) names.push_back(name);
  }
  return names;
}

Refusal refusal(const KeyChange& change, std::string_view path) {
  const auto shown = [](std::string_view value) { return value.empty() ? "none" : value; };
  return {fmt::format("{}{}", path, change.key),
          fmt::format("needs an upgrade: send SIGUSR2, or restart (running: {}, file: {})",
                      shown(change.from), shown(change.to))};
}

}  // namespace

Changes changes_between(const Description& now, const Description& next, std::string_view level,
                        std::string_view path) {
  Changes changes;
  for (const Key& key : all_keys()) {
    const std::string_view below = within(key.path, level);
    if (below.empty()) continue;
    std::vector<KeyChange> found;
    if (key.type == Type::addresses || key.type == Type::networks) {
      compare_lists(below, *now.find(below), *next.find(below), found);
    } else {
      KeyChange change{std::string(below), value_at(now, below), value_at(next, below)};
      if (change.from != change.to) found.push_back(std::move(change));
    }
    if (found.empty()) continue;
    switch (key.reload) {
      case ReloadClass::upgrade:
        changes.refusals.push_back(refusal(found[0], path));
        continue;
      case ReloadClass::listener_rebound:
        changes.rebinds = true;
        break;
      case ReloadClass::hot:
      case ReloadClass::listener_kept:
        break;
    }
    std::move(found.begin(), found.end(), std::back_inserter(changes.keys));
  }
  return changes;
}

void add_order(const Description& now, const Description& next, std::vector<KeyChange>& keys) {
  const auto before = common_names(now, next);
  const auto after = common_names(next, now);
  if (before == after) return;
  keys.push_back({"backends", fmt::format("{}", fmt::join(before, ", ")),
                  fmt::format("{}", fmt::join(after, ", "))});
}

}  // namespace weir::config
