#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "config/scalars.h"
#include "tests/config/loading.h"
#include "weir/config/describe.h"
#include "weir/core/random.h"

// Configurations drawn from a seed. Every change is made to the description and then loaded as a
// file, so that each configuration is one that a file can have, and a new key takes part by itself.
namespace weir::config {

// conf/full.yaml with what it shows as a comment only.
inline std::string file_with_every_key() {
  std::string text = read_source_file("conf/full.yaml");
  const auto replace = [&](const std::string& old, const std::string& with) {
    const std::size_t at = text.find(old);
    REQUIRE(at != std::string::npos);
    text.replace(at, old.size(), with);
  };
  replace("circuit_success: connect", "circuit_success: first_byte");
  replace("# first_byte_timeout:", "first_byte_timeout:");
  return text;
}

inline std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(list)};
  for (std::string word; std::getline(stream >> std::ws, word, ',');) words.push_back(word);
  return words;
}

inline Description text_of(std::string text) {
  return {Description::Kind::text, "", std::move(text), {}};
}

// A value for this key that may be out of range, or not fit the other keys.
inline std::string random_value(const Key& key, core::Rng& rng) {
  const auto one_of = [&](const std::vector<std::string>& words) {
    return words[rng.below(words.size())];
  };
  const auto number = [&](std::uint64_t bound) { return std::to_string(rng.below(bound)); };
  std::string text;
  switch (key.type) {
    case Type::access_log:
      return one_of({"stdout", "off", "/var/log/a", "/var/log/b $x \"${", "/tmp/[{\\\xC3\xA9"});
    case Type::address:
    case Type::addresses:
      // Every draw a statement of its own, so that a seed means the same to every compiler.
      text = one_of({"127.0.0.1:", "127.0.0.2:", "[::1]:", "0.0.0.0:", "[::]:"});
      return text + std::to_string(1 + rng.below(4));
    case Type::networks:
      return one_of({"10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "::/0"});
    case Type::boolean:
    case Type::choice:
      return one_of(words_of(key.allowed));
    case Type::duration:
    case Type::seconds:
      text = number(100);
      return text + one_of({"ms", "s", "m", "h"});
    case Type::file_mode:
      return one_of({"0600", "0660", "0777", "0640"});
    case Type::fraction:
      return fraction_text(static_cast<double>(rng.below(10001)) / 10000);
    case Type::integer:
      return number(key.path == "pools[].backends[].weight" ? 3 : 100);
    case Type::name:
    case Type::pool_name:
      return one_of({"a", "b", "no", "x.y-z"});
    case Type::owner:
      return one_of({"", "weir", ":adm", "weir:adm"});
    case Type::socket_path:
      return one_of({"", "/run/a", "/run/b"});
    case Type::source_address:
      return one_of({"", "127.0.0.1", "::1"});
    case Type::workers:
      return rng.below(4) == 0 ? "auto" : std::to_string(1 + rng.below(8));
  }
  return "";
}

inline Description* member(Description& mapping, std::string_view key) {
  for (Description& child : mapping.children) {
    if (child.key == key) return &child;
  }
  return nullptr;
}

// The place of `pools[].timeouts.idle`, or null; `pick` chooses an item of each list on the way.
template <typename Pick>
Description* find_value(Description& tree, std::string_view path, const Pick& pick) {
  Description* place = &tree;
  while (place && !path.empty()) {
    std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    const bool list = part.ends_with("[]");
    if (list) part.remove_suffix(2);
    place = member(*place, part);
    if (place && list) place = pick(*place);
  }
  return place;
}

inline Description* first_at(Description& tree, std::string_view path) {
  return find_value(tree, path, [](Description& list) { return &list.children.at(0); });
}

class RandomConfiguration {
 public:
  explicit RandomConfiguration(std::uint64_t seed)
      : rng_(seed),
        configuration_(must_load(file_with_every_key())),
        every_(describe(configuration_)) {}

  const Configuration& get() const { return configuration_; }

  // Makes this many changes of any kind: of a value, of what a list has, of its order.
  void change(std::uint64_t times) {
    int refused = 0;  // in a row
    for (std::uint64_t done = 0; done < times;) {
      Description tree = describe(configuration_);
      if (rng_.below(3) == 0) {
        change_list(tree);
      } else {
        change_value(tree);
      }
      LoadResult loaded = load_all_said(yaml(tree));
      if (!loaded.configuration) {  // two keys that do not fit each other
        REQUIRE_MESSAGE(++refused < 1000, all_problems(loaded));
        continue;
      }
      refused = 0;
      configuration_ = std::move(*loaded.configuration);
      ++done;
    }
  }

  core::Rng& rng() { return rng_; }

 private:
  Description& any(Description& list) { return list.children[rng_.below(list.children.size())]; }

  void change_value(Description& tree) {
    const Key& key = all_keys()[rng_.below(all_keys().size())];
    Description* place = find_value(tree, key.path, [&](Description& list) { return &any(list); });
    if (!place) return;
    if (key.type == Type::addresses || key.type == Type::networks) {
      const std::size_t least = key.type == Type::addresses ? 1 : 0;
      place->children.assign(least + rng_.below(2), {});
      for (Description& item : place->children) item = text_of(random_value(key, rng_));
    } else {
      place->text = random_value(key, rng_);
    }
    if (key.path.ends_with(".circuit_success") && place->text == "connect") {
      for (Description& pool : member(tree, "pools")->children) {
        auto& keys = member(pool, "resilience")->children;
        if (member(*member(pool, "resilience"), "circuit_success")->text != "connect") continue;
        std::erase_if(keys, [](const Description& k) { return k.key == "first_byte_timeout"; });
      }
    }
  }

  void change_list(Description& tree) {
    Description& pools = *member(tree, "pools");
    switch (rng_.below(4)) {
      case 0:
        return change_items(*member(tree, "listeners"), *member(every_, "listeners"));
      case 1:
        return change_items(pools, *member(every_, "pools"));
      case 2:
        return change_items(*member(any(pools), "backends"),
                            *member(every_.children.back().children[0], "backends"));
      case 3:
        return toggle_health(any(pools));
    }
  }

  void toggle_health(Description& pool) {
    const auto removed = std::erase_if(
        pool.children, [](const Description& child) { return child.key == "health"; });
    if (removed != 0) return;
    pool.children.push_back(*member(every_.children.back().children[0], "health"));
  }

  // Adds, removes or moves an item. One that is added has a random name, and listens or dials at
  // random addresses.
  void change_items(Description& list, const Description& source) {
    auto& items = list.children;
    const std::uint64_t kind = rng_.below(3);
    if (kind == 0 && items.size() < 5) {
      Description item = source.children[rng_.below(source.children.size())];
      const std::string level = list.key == "backends" ? "pools[].backends[]" : list.key + "[]";
      member(item, "name")->text = random_value(*find_key(level + ".name"), rng_);
      if (Description* bind = member(item, "bind")) {
        bind->children = {text_of(random_value(*find_key("listeners[].bind"), rng_))};
        member(item, "pool")->text = random_value(*find_key("listeners[].pool"), rng_);
      }
      if (Description* address = member(item, "address")) {
        address->text = random_value(*find_key("pools[].backends[].address"), rng_);
      }
      items.insert(items.begin() + static_cast<std::ptrdiff_t>(rng_.below(items.size() + 1)),
                   std::move(item));
    } else if (kind == 1 && items.size() > 1) {
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(rng_.below(items.size())));
    } else {
      std::swap(any(list), any(list));
    }
  }

  core::Rng rng_;
  Configuration configuration_;
  Description every_;  // new sections and items are copies of what is here
};

}  // namespace weir::config
