#include "ctl/yaml_text.h"

#include <doctest/doctest.h>

using namespace weir::ctl;

namespace {

std::string yaml(const char* json) { return text_of(yaml_lines(Json::parse(json)), false); }

}  // namespace

TEST_CASE("yaml: maps and lists are written as in a configuration file") {
  CHECK(yaml(R"({"workers":2,"log":{"level":"info"},
                 "listeners":[{"name":"orders","bind":["0.0.0.0:5432","[::]:5432"],"tls":{}}],
                 "pools":[],"empty":null})") ==
        "workers: 2\n"
        "log:\n"
        "  level: info\n"
        "listeners:\n"
        "  - name: orders\n"
        "    bind:\n"
        "      - \"0.0.0.0:5432\"\n"
        "      - \"[::]:5432\"\n"
        "    tls: {}\n"
        "pools: []\n"
        "empty: null\n");
}

TEST_CASE("yaml: a text that YAML would read as something else is quoted") {
  CHECK(
      yaml(
          R"({"a1":"0600","b1":"off","c1":"No","d1":"10s","e1":"64KiB","f1":"1.2","g1":"","h1":"x: y",
                 "i1":"0x10","j1":"\u001b","k1":"12","l1":"~","m1":"/run/x","n1":"y"})") ==
      "a1: \"0600\"\nb1: \"off\"\nc1: \"No\"\nd1: 10s\ne1: 64KiB\nf1: \"1.2\"\ng1: \"\"\n"
      "h1: \"x: y\"\ni1: \"0x10\"\nj1: \"\\u001b\"\nk1: \"12\"\nl1: \"~\"\nm1: \"/run/x\"\n"
      "n1: \"y\"\n");
}

TEST_CASE("yaml: lists in lists and bare values") {
  CHECK(yaml(R"([[1,2],{"aa":{"bb":1}},"text"])") == "- - 1\n  - 2\n- aa:\n    bb: 1\n- text\n");
  CHECK(yaml("3") == "3\n");
  CHECK(yaml("{}") == "{}\n");
}
