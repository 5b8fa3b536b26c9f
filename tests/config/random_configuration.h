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
  switch (key.type) {
    case Type::access_log:
      return one_of({"stdout", "off", "/var/log/a", "/var/log/b $x \"${", "/tmp/[{\\\xC3\xA9"});
    case Type::address:
    case Type::addresses:
      return one_of({"127.0.0.1:", "127.0.0.2:", "[::1]:", "0.0.0.0:", "[::]:"}) +
             std::to_string(1 + rng.below(4));
    case Type::boolean:
    case Type::choice:
      return one_of(words_of(key.allowed));
    case Type::duration:
    case Type::seconds:
      return number(100) + one_of({"ms", "s", "m", "h"});
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

class RandomConfiguration {
 public:
  explicit RandomConfiguration(std::uint64_t seed)
      : rng_(seed),
        configuration_(must_load(file_with_every_key())),
        every_(describe(configuration_)) {}

  const Configuration& get() const { return configuration_; }

  // Makes this many changes of any kind: of a value, of what a list has, of its order.
  void change(std::uint64_t times) {
    for (std::uint64_t done = 0; done < times;) {
      Description tree = describe(configuration_);
      if (rng_.below(3) == 0) {
        change_list(tree);
      } else {
        change_value(tree);
      }
      LoadResult loaded = load_all_said(yaml(tree));
      if (!loaded.configuration) continue;  // two keys that do not fit each other
      configuration_ = std::move(*loaded.configuration);
      ++done;
    }
  }

  core::Rng& rng() { return rng_; }

 private:
  Description* member(Description& mapping, std::string_view key) {
    for (Description& child : mapping.children) {
      if (child.key == key) return &child;
    }
    return nullptr;
  }

  Description& any(Description& list) { return list.children[rng_.below(list.children.size())]; }

  void change_value(Description& tree) {
    const Key& key = all_keys()[rng_.below(all_keys().size())];
    Description* place = &tree;
    std::string_view rest = key.path;
    while (place && !rest.empty()) {
      std::string_view part = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const bool list = part.ends_with("[]");
      if (list) part.remove_suffix(2);
      place = member(*place, part);
      if (place && list) place = &any(*place);
    }
    if (!place) return;
    if (key.type == Type::addresses) {
      place->children.assign(1 + rng_.below(2), {});
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
