#include "weir/config/describe.h"

#include <filesystem>

#include "tests/config/random_configuration.h"

namespace weir::config {
namespace {

using namespace std::chrono_literals;

// The paths of all values, lists by their first item.
void collect_keys(const Description& place, const std::string& path,
                  std::vector<std::string>& keys) {
  if (place.kind == Description::Kind::mapping) {
    for (const Description& member : place.children) {
      collect_keys(member, path.empty() ? member.key : path + "." + member.key, keys);
    }
  } else if (place.kind == Description::Kind::list && !place.children.empty() &&
             place.children[0].kind == Description::Kind::mapping) {
    collect_keys(place.children[0], path + "[]", keys);
  } else {
    keys.push_back(path);
  }
}

std::vector<std::string> keys_of(const Configuration& configuration) {
  std::vector<std::string> keys;
  collect_keys(describe(configuration), "", keys);
  return keys;
}

// The value at a path such as `pools.0.timeouts.idle`.
const Description& at(const Description& root, std::string_view path) {
  const Description* place = &root;
  while (!path.empty()) {
    const std::string part(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    place = place->kind == Description::Kind::list ? &place->children.at(std::stoul(part))
                                                   : place->find(part);
    REQUIRE_MESSAGE(place, part);
  }
  return *place;
}

void check_round_trip(const Configuration& configuration) {
  const std::string text = yaml(describe(configuration));
  CAPTURE(text);
  const LoadResult again = load_all_said(text);
  REQUIRE_MESSAGE(again.configuration, all_problems(again));
  CHECK(*again.configuration == configuration);
  CHECK(yaml(describe(*again.configuration)) == text);
}

}  // namespace

TEST_CASE("a description has every key of the table, in its order, and nothing else") {
  std::vector<std::string> expected;
  for (const Key& key : all_keys()) expected.emplace_back(key.path);
  CHECK(keys_of(must_load(file_with_every_key())) == expected);
}

TEST_CASE("a description leaves out what would mean something else if it were written") {
  std::vector<std::string> expected;
  for (const Key& key : all_keys()) {
    if (key.path.starts_with("pools[].health.")) continue;
    if (key.path == "pools[].resilience.first_byte_timeout") continue;
    expected.emplace_back(key.path);
  }
  CHECK(keys_of(must_load(small_file())) == expected);
}

TEST_CASE("the defaults that a description fills in are those of the table") {
  const Description tree = describe(must_load(small_file("health: {}")));
  for (const Key& key : all_keys()) {
    if (key.default_text == kRequired || key.path.ends_with(".first_byte_timeout")) continue;
    CAPTURE(key.path);
    std::string path(key.path);
    for (std::size_t list; (list = path.find("[]")) != std::string::npos;) {
      path.replace(list, 2, ".0");
    }
    if (key.type == Type::networks) {
      CHECK(at(tree, path).children.empty());
      continue;
    }
    const std::string& text = at(tree, path).text;
    const auto duration = parse_duration(key.default_text);
    if (duration) {
      CHECK(parse_duration(text) == duration);  // `60s` is `1m`
    } else {
      CHECK(text == key.default_text);
    }
  }
}

TEST_CASE("durations are written in the largest unit that divides them") {
  Configuration configuration = must_load(small_file());
  upstream::TimeoutOptions& timeouts = configuration.pools[0].timeouts;
  timeouts.connect = 250ms;
  timeouts.idle = 90min;
  timeouts.half_close = 90s;
  timeouts.session = 48h;
  timeouts.linger = 0s;
  const Description tree = describe(configuration);
  CHECK(at(tree, "pools.0.timeouts.connect").text == "250ms");
  CHECK(at(tree, "pools.0.timeouts.idle").text == "90m");
  CHECK(at(tree, "pools.0.timeouts.half_close").text == "90s");
  CHECK(at(tree, "pools.0.timeouts.session").text == "48h");
  CHECK(at(tree, "pools.0.timeouts.linger").text == "0s");
}

TEST_CASE("a description says of each value whether it is text, a number or a boolean") {
  using Kind = Description::Kind;
  const Description tree = describe(must_load("workers: 3\n" + small_file()));
  CHECK(at(tree, "workers").kind == Kind::number);
  CHECK(at(tree, "admin.mode").kind == Kind::text);
  CHECK(at(tree, "http.listen").text.empty());
  CHECK(at(tree, "pools.0.resilience.circuit_enabled").kind == Kind::boolean);
  CHECK(at(tree, "pools.0.resilience.circuit_failure_rate").kind == Kind::number);
  CHECK(at(tree, "pools.0.timeouts.idle").kind == Kind::text);
  CHECK(at(tree, "listeners.0.bind").kind == Kind::list);
  CHECK(at(tree, "listeners.0.bind.0").key.empty());
  CHECK(at(describe(must_load(small_file())), "workers").kind == Kind::text);
  CHECK(tree.find("nothing") == nullptr);
}

TEST_CASE("listeners, addresses, pools and backends stand in the order of the file") {
  const Description tree = describe(must_load(
      "listeners:\n"
      "  - {name: z, bind: [\"127.0.0.1:9\", \"127.0.0.1:3\"], pool: q}\n"
      "  - {name: a, bind: [\"127.0.0.1:5\"], pool: p}\n"
      "pools:\n"
      "  - name: q\n"
      "    backends: [{name: x, address: \"db:2\"}, {name: b, address: \"127.0.0.1:1\"}]\n"
      "  - {name: p, resilience: {max_fails: 2}, backends: [{name: b, address: \"db:1\"}]}\n"));
  CHECK(at(tree, "listeners.0.name").text == "z");
  CHECK(at(tree, "listeners.1.name").text == "a");
  CHECK(at(tree, "listeners.0.bind.0").text == "127.0.0.1:9");
  CHECK(at(tree, "listeners.0.bind.1").text == "127.0.0.1:3");
  CHECK(at(tree, "pools.0.name").text == "q");
  CHECK(at(tree, "pools.0.backends.0.address").text == "db:2");
  CHECK(at(tree, "pools.0.backends.1.name").text == "b");
  CHECK(at(tree, "pools.1.resilience.max_fails").text == "2");
}

TEST_CASE("a description is written as a file that people read easily") {
  const std::string text = yaml(describe(must_load("workers: 2\n" + small_file())));
  CHECK(text.find("workers: 2\n"
                  "admin:\n"
                  "  socket: /run/weir/admin.sock\n"
                  "  mode: \"0600\"\n"
                  "  owner: \"\"\n"
                  "http:\n") == 0);
  CHECK(text.find("listeners:\n"
                  "  - name: l\n"
                  "    bind: [\"127.0.0.1:1\"]\n"
                  "    max_connections: 0\n"
                  "    allow: []\n"
                  "    deny: []\n"
                  "    max_connections_per_source: 0\n"
                  "    max_connection_rate_per_source: 0\n"
                  "    pool: p\n"
                  "pools:\n"
                  "  - name: p\n"
                  "    balance: round_robin\n"
                  "    resilience:\n"
                  "      max_active_requests: 0\n") != std::string::npos);
  CHECK(text.find("    timeouts:\n      connect: 5s\n") != std::string::npos);
  CHECK(
      text.ends_with("    backends:\n"
                     "      - name: b\n"
                     "        address: \"127.0.0.1:2\"\n"
                     "        weight: 1\n"
                     "        priority: 0\n"
                     "        max_active: 0\n"));
}

TEST_CASE("a description that is written and loaded again is the same configuration") {
  check_round_trip(must_load(small_file()));
  check_round_trip(must_load(file_with_every_key()));
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/conf")) {
    if (entry.path().extension() != ".yaml") continue;
    check_round_trip(must_load(read_source_file("conf/" + entry.path().filename().string())));
  }
}

TEST_CASE("whatever a text holds, it is the same when it is written and loaded again") {
  for (const char* text :
       {"${A}", "$${", "$$",   "a'b", "a\"b",     "a\\n",         "#",       "a: b",
        "- x",  "[",   "{}",   "*x",  "&x",       "!x",           "%x",      "@x",
        "`x",   "no",  "null", "~",   "1",        "0x1",          "1h",      "<<",
        " ",    "?",   "|",    ">",   "\xC3\xA9", "\xE2\x80\xA8", "\xC2\x85"}) {
    CAPTURE(text);
    Configuration configuration = must_load(small_file());
    configuration.app.access_log = std::string("/") + text;
    configuration.app.admin_socket = std::string("/run/") + text;
    configuration.listeners[0].bind[0] = {core::Endpoint::Kind::unix_path, std::string("/x") + text,
                                          "", 0};
    check_round_trip(configuration);
  }
  for (const char* name :
       {"no", "null", "true", "y", "1", "1e3", "0x1", "5s", "-", ".", "a-b_c.d"}) {
    CAPTURE(name);
    Configuration configuration = must_load(small_file());
    configuration.listeners[0].name = name;
    configuration.listeners[0].pool = name;
    configuration.pools[0].name = name;
    configuration.pools[0].backends[0].name = name;
    check_round_trip(configuration);
  }
}

TEST_CASE("random configurations are the same when they are written and loaded again") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    RandomConfiguration random(seed);
    for (int round = 0; round < 5; ++round) {
      random.change(4);
      check_round_trip(random.get());
    }
  }
}

}  // namespace weir::config
