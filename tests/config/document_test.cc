#include "config/document.h"

#include <fmt/format.h>

#include "tests/config/expect_problem.h"

namespace weir::config {

TEST_CASE("CFG-01: an empty file") {
  for (const char* text :
       {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "\xEF\xBB\xBF"}) {
    check_refused({text, text, 1, 1, "", "the file is empty"});
  }
}

TEST_CASE("CFG-01: a tab as indentation") {
  check_refused({
      {"key", "log:\n\tlevel: info\n" + small_file(), 2, 1, "", "a tab in the indentation"},
      {"after blanks", "log:\n  \tlevel: info\n" + small_file(), 2, 3, "", "use spaces"},
      {"item", "listeners:\n\t- name: l\n", 2, 1, "", "a tab in the indentation"},
  });
  must_load("workers: 1\t# a tab elsewhere is fine\n\t# and here\n\t\n" + small_file());
}

TEST_CASE("CFG-01: a bomb of anchors and aliases is refused at its aliases and never unfolds") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i,
                        i - 1);
  }
  const LoadResult result = load_text(bomb);
  CHECK_FALSE(result.configuration);
  REQUIRE(result.problems.size() > 3);
  CHECK(all_problems(result).find("weir.yaml:2:10: a1[0]: an alias (anchors and aliases are not "
                                  "accepted: write the value out)\n") != std::string::npos);
}

TEST_CASE("an alias is reported once, where it stands") {
  check_refused({
      {"value", "workers: &n 2\n" + small_file("source_address: *n"), 9, 21,
       "pools[0].source_address", "an alias"},
      {"key", "workers: &n 2\n" + small_file("*n : 3"), 9, 5, "pools[0]", "an alias"},
      {"item", with_listeners("  - name: l\n    bind: [&a \"127.0.0.1:1\", *a]\n    pool: p\n"), 4,
       30, "listeners[0].bind[1]", "an alias"},
  });
}

TEST_CASE("a merge key is refused") {
  check_refused({"<<", small_file("timeouts: {<<: {idle: 1s}}"), 8, 16, "pools[0].timeouts.<<",
                 "a merge key"});
}

TEST_CASE("a tag is refused, whatever it says") {
  for (const char* tag : {"!!str", "!!int", "!mine", "!", "!<tag:x>"}) {
    check_refused({tag, std::string("workers: ") + tag + " 2\n" + small_file(), 1, 10, "workers",
                   "a YAML tag"});
  }
  check_refused({"mapping", "log: !!map {}\n" + small_file(), 1, 6, "log", "a YAML tag"});
}

TEST_CASE("a second document is refused") {
  check_refused({
      {"second", small_file() + "---\nworkers: 1\n", 8, 1, "", "a second document"},
      {"empty second", small_file() + "---\n---\n", 8, 1, "", "a second document"},
      {"after the end", small_file() + "...\nworkers: 1\n", 9, 1, "", "a second document"},
  });
  must_load("---\n" + small_file() + "...\n");
  must_load("%YAML 1.2\n---\n" + small_file());
}

TEST_CASE("after a syntax error only that one is reported") {
  check_refused({
      {"after a wrong value", "workers: none\nlog: {level: info\n", 3, 1, "", "not valid YAML"},
      {"after an alias", "a: &x 1\nb: *x\nc: ]\n", 3, 4, "", "not valid YAML"},
      {"unknown alias", "workers: *n\n", 1, 10, "", "not valid YAML"},
      {"indentation", "log:\n  level: info\n format: text\n", 3, 2, "", "not valid YAML"},
      {"unterminated", "workers: none\nlog: {access: \"a.log}\n", 2, 15, "",
       "a \" without its end"},
      {"single", small_file("balance: 'it''s"), 8, 14, "", "a ' without its end"},
      {"anchored", small_file("balance: &a \"fi\\\"rst"), 8, 14, "", "a \" without its end"},
  });
}

TEST_CASE("an unquoted variable within braces or brackets says that it must be quoted") {
  const char* message = "an unquoted ${...} inside {} or []";
  check_refused({
      {"list", with_listeners("  - {name: l, bind: [${BIND}], pool: p}\n"), 3, 22, "", message},
      {"mapping", small_file("timeouts: {idle: ${IDLE}}"), 8, 22, "", message},
      {"with a default", small_file("timeouts: {idle: ${IDLE:-5s}}"), 8, 22, "", message},
      {"in the middle", with_listeners("  - {name: l, bind: [127.0.0.1:${PORT}]}\n"), 3, 32, "",
       message},
  });
}

TEST_CASE("an unset variable and an unterminated one point at their value") {
  check_refused({
      {"unset", small_file("balance: ${BALANCE}"), 8, 14, "pools[0].balance",
       "the environment has no BALANCE"},
      {"within text", small_file("source_address: \"10.0.0.${LAST}\""), 8, 21,
       "pools[0].source_address", "the environment has no LAST"},
      {"unterminated", small_file("balance: \"${BALANCE\""), 8, 14, "pools[0].balance",
       "a ${ without its }"},
  });
}

TEST_CASE("nesting is bounded, however deep it goes") {
  const std::string deepest = "a: " + std::string(31, '[') + std::string(31, ']') + "\n";
  CHECK(all_problems(load_text(deepest)).find("too deep") == std::string::npos);
  const std::string deeper = "a: " + std::string(32, '[') + std::string(32, ']') + "\n";
  const LoadResult result = load_text(deeper);
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].line == 1);
  CHECK(result.problems[0].column == 35);
  CHECK(result.problems[0].message == "nested too deep (at most 32)");
  for (const char* opening : {"[", "{", "- ", "? ", "{a: ", "[[", "- {", "&a [", "a: [\n"}) {
    CAPTURE(opening);
    std::string text;
    for (int i = 0; i < 100000; ++i) text += opening;
    CHECK(load_text(text).problems.size() == 1);
  }
}

TEST_CASE("columns count bytes, also behind letters of more than one") {
  check_refused({"own", "log: {level: \"\xC3\xBC\", format: text}\n" + small_file(), 1, 14,
                 "log.level", "not one of the choices"});
  check_refused({"after", "log: {access: \xC3\xBC\xC3\xBC, format: xml}\n" + small_file(), 1, 29,
                 "log.format", "not one of the choices"});
}

TEST_CASE("Windows line endings and a byte order mark change nothing") {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : "workers: 0\n" + small_file()) {
    if (c == '\n') text += '\r';
    text += c;
  }
  check_refused({"CR LF", text, 1, 10, "workers", "out of range"});
  check_refused({"offsets", "\xEF\xBB\xBF" + small_file("balance: 'first"), 8, 14, "",
                 "a ' without its end"});
}

TEST_CASE("a key that is not a word is refused") {
  check_refused({
      {"list", small_file("? [a, b]\n    : c"), 8, 7, "pools[0]", "a key that is not a word"},
      {"empty", "log: {: 1}\n" + small_file(), 1, 7, "log", "a key that is not a word"},
  });
}

TEST_CASE("a message is one printable line, whatever the file holds") {
  const LoadResult result =
      load_text("\"a\\nb\\e[31m\": 1\nlog: {level: \"x\\ny\"}\n" + small_file());
  REQUIRE(result.problems.size() == 2);
  for (const Problem& problem : result.problems) {
    const std::string line = problem.text("f");
    CHECK(line.find_first_of("\n\x1B") == std::string::npos);
  }
  CHECK(result.problems[1].message.find("holds a control character") != std::string::npos);
}

}  // namespace weir::config
