#include "tests/config/expect_problem.h"

namespace weir::config {

TEST_CASE("CFG-01: a misspelled key names the key that was meant") {
  check_refused({
      {"backend",
       with_pool("  - name: p\n    backends:\n      - name: b\n        address: "
                 "\"127.0.0.1:2\"\n        max_actve: 3\n"),
       7, 9, "pools[0].backends[0].max_actve",
       "unknown key, did you mean max_active? (allowed here: name, address, weight, priority, "
       "max_active)"},
      {"top", "worker: 3\n" + small_file(), 1, 1, "worker", "did you mean workers?"},
      {"case", "Workers: 3\n" + small_file(), 1, 1, "Workers", "did you mean workers?"},
      {"nested", "log: {levl: info}\n" + small_file(), 1, 7, "log.levl", "did you mean level?"},
      {"null", "null: 3\n" + small_file(), 1, 1, "null", "unknown key"},
  });
}

TEST_CASE("CFG-01: a key at the wrong level names the level where it belongs") {
  check_refused({
      {"up", small_file("idle: 5s"), 8, 5, "pools[0].idle",
       "it belongs to pools[].timeouts or pools[].keepalive"},
      {"down", small_file("timeouts: {name: x}"), 8, 16, "pools[0].timeouts.name", "it belongs to"},
      {"mapping", "timeouts: {}\n" + small_file(), 1, 1, "timeouts", "it belongs to pools[]"},
      {"backend's", small_file("weight: 3"), 8, 5, "pools[0].weight",
       "it belongs to pools[].backends[]"},
      {"top", small_file("", "workers: 3"), 5, 5, "listeners[0].workers",
       "it belongs to the top level"},
  });
}

TEST_CASE("keys that this version does not know are refused rather than ignored") {
  for (const char* key : {"tls", "proxy_protocol"}) {
    check_refused({key, small_file(std::string(key) + ": {}"), 8, 5,
                   (std::string("pools[0].") + key).c_str(), "unknown key (allowed here: name,"});
  }
  for (const char* key : {"tls", "routes", "protocol", "timeouts"}) {
    check_refused({key, small_file("", std::string(key) + ": {}"), 5, 5,
                   (std::string("listeners[0].") + key).c_str(), "unknown key"});
  }
  check_refused({"resilience", small_file("resilience: {first_byte: 3s}"), 8, 18,
                 "pools[0].resilience.first_byte", "unknown key"});
  check_refused({"http", "http: {tls: x}\n" + small_file(), 1, 8, "http.tls", "unknown key"});
}

TEST_CASE("CFG-01: a key given twice, at any level and in any spelling") {
  check_refused({
      {"top", "workers: 1\n" + small_file() + "workers: 2\n", 9, 1, "workers",
       "given twice, first on line 1"},
      {"equal values", small_file("balance: first\n    balance: first"), 9, 5, "pools[0].balance",
       "given twice, first on line 8"},
      {"quoted", small_file("balance: first\n    \"balance\": first"), 9, 5, "pools[0].balance",
       "given twice"},
      {"in braces", small_file("timeouts: {idle: 1s, idle: 1s, half_close: 1s}"), 8, 26,
       "pools[0].timeouts.idle", "given twice"},
      {"list", small_file() + "pools: []\n", 8, 1, "pools", "given twice, first on line 5"},
  });
}

TEST_CASE("CFG-01: two listeners, two pools or two backends of a pool with one name") {
  check_refused({
      {"listeners",
       with_listeners("  - {name: l, bind: [\"127.0.0.1:1\"], pool: p}\n"
                      "  - {name: l, bind: [\"127.0.0.1:2\"], pool: p}\n"),
       4, 12, "listeners[1].name", "\"l\" is the name of listeners[0] on line 3 already"},
      {"pools",
       with_pool("  - {name: p, backends: [{name: b, address: \"127.0.0.1:2\"}]}\n"
                 "  - {name: \"p\", backends: [{name: b, address: \"127.0.0.1:2\"}]}\n"),
       4, 12, "pools[1].name", "is the name of pools[0] on line 3 already"},
      {"backends",
       with_pool("  - name: p\n    backends:\n      - {name: b, address: \"127.0.0.1:2\"}\n"
                 "      - {name: b, address: \"127.0.0.1:3\"}\n"),
       6, 16, "pools[0].backends[1].name", "is the name of pools[0].backends[0] on line 5"},
  });
  must_load(
      with_pool("  - {name: p, backends: [{name: b, address: \"127.0.0.1:2\"}]}\n"
                "  - {name: q, backends: [{name: b, address: \"127.0.0.1:2\"}]}\n"));
}

TEST_CASE("CFG-01: a name that YAML could read as a boolean or null must be quoted") {
  for (const char* name : {"no", "off", "yes", "on", "true", "False", "NULL", "null", "~", "y"}) {
    check_refused({name,
                   with_pool(std::string("  - {name: p, backends: [{name: ") + name +
                             ", address: \"127.0.0.1:2\"}]}\n"),
                   3, 33, "pools[0].backends[0].name", "must be quoted"});
  }
  const Configuration quoted = must_load(
      "listeners: [{name: 'on', bind: [\"127.0.0.1:1\"], pool: \"no\"}]\n"
      "pools: [{name: \"no\", backends: [{name: \"null\", address: \"127.0.0.1:2\"}]}]\n");
  CHECK(quoted.pools[0].name == "no");
  CHECK(quoted.pools[0].backends[0].name == "null");
  const LoadResult reference = load_text(
      "listeners: [{name: l, bind: [\"127.0.0.1:1\"], pool: no}]\n"
      "pools: [{name: \"no\", backends: [{name: b, address: \"127.0.0.1:2\"}]}]\n");
  REQUIRE(reference.problems.size() == 1);
  CHECK(reference.problems[0].path == "listeners[0].pool");
}

TEST_CASE("a name is refused when it is too long or holds other characters") {
  const auto named = [](const std::string& name) {
    return with_pool("  - {name: p, backends: [{name: " + name + ", address: \"127.0.0.1:2\"}]}\n");
  };
  for (const std::string& name : {std::string("\"\""), std::string(65, 'x'), std::string("a/b"),
                                  std::string("\"a b\""), std::string("\xC3\xBC")}) {
    check_refused({name.c_str(), named(name), 3, 33, "pools[0].backends[0].name",
                   "is not a name (allowed: 1 to 64 of A-Z a-z 0-9 _ . -)"});
  }
  must_load(named(std::string(64, 'x')));
  CHECK(must_load(named("1")).pools[0].backends[0].name == "1");
}

TEST_CASE("a missing key points at the first line of its mapping") {
  check_refused({
      {"no name", with_listeners("  - bind: [\"127.0.0.1:1\"]\n    pool: p\n"), 3, 5,
       "listeners[0].name", "missing"},
      {"no bind", with_listeners("  - name: l\n    pool: p\n"), 3, 5, "listeners[0].bind",
       "missing"},
      {"no pool", with_listeners("  - name: l\n    bind: [\"127.0.0.1:1\"]\n"), 3, 5,
       "listeners[0].pool", "missing (allowed: the name of a pool)"},
      {"no backends", with_pool("  - name: p\n"), 3, 5, "pools[0].backends",
       "missing (allowed: at least one backend)"},
      {"no address", with_pool("  - name: p\n    backends:\n      - name: b\n"), 5, 9,
       "pools[0].backends[0].address", "missing"},
      {"no listeners",
       "# comment\npools: [{name: p, backends: [{name: b, address: "
       "\"127.0.0.1:2\"}]}]\n",
       2, 1, "listeners", "missing (allowed: at least one listener)"},
  });
}

TEST_CASE("an empty list is refused where one is needed") {
  check_refused({
      {"bind", with_listeners("  - {name: l, bind: [], pool: p}\n"), 3, 21, "listeners[0].bind",
       "an empty list"},
      {"backends", with_pool("  - {name: p, backends: []}\n"), 3, 25, "pools[0].backends",
       "an empty list (allowed: at least one backend)"},
      {"listeners", "listeners: []\npools: [{name: p, backends: [{name: b, address: a:1}]}]\n", 1,
       12, "listeners", "an empty list"},
  });
}

TEST_CASE("CFG-01: a listener that refers to a pool that does not exist") {
  check_refused({"pool", with_listeners("  - {name: l, bind: [\"127.0.0.1:1\"], pool: q}\n"), 3, 44,
                 "listeners[0].pool", "no pool is named \"q\" (allowed: p)"});
}

TEST_CASE("CFG-01: a pool whose weights are all 0") {
  check_refused({"weights",
                 with_pool("  - name: p\n    backends:\n"
                           "      - {name: a, address: \"127.0.0.1:2\", weight: 0}\n"
                           "      - {name: b, address: \"127.0.0.1:3\", weight: 0}\n"),
                 5, 7, "pools[0].backends", "all weights are 0"});
  must_load(
      with_pool("  - name: p\n    backends:\n"
                "      - {name: a, address: \"127.0.0.1:2\", weight: 0}\n"
                "      - {name: b, address: \"127.0.0.1:3\", weight: 1}\n"));
}

TEST_CASE("all errors of a file are reported at once, in the order of the file") {
  const LoadResult result = load_text(
      "workers: 0\n"
      "pools:\n"
      "  - name: p\n"
      "    colour: red\n"
      "    backends: [{name: b, address: \"127.0.0.1\", weight: many}]\n"
      "listeners:\n"
      "  - {name: l, bind: [\"db:1\"], pool: q}\n"
      "log: {level: loud}\n");
  CHECK_FALSE(result.configuration);
  std::vector<std::string> paths;
  for (const Problem& problem : result.problems) paths.push_back(problem.path);
  CHECK(paths == std::vector<std::string>{"workers", "pools[0].colour",
                                          "pools[0].backends[0].address",
                                          "pools[0].backends[0].weight", "listeners[0].bind[0]",
                                          "listeners[0].pool", "log.level"});
}

}  // namespace weir::config
