#include "config/environment.h"

#include "tests/config/loading.h"

namespace weir::config {
namespace {

Substituted substitute_with(const Variables& variables, std::string_view text) {
  return substitute(text, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

}  // namespace

TEST_CASE("a variable may be all of a value or part of it, and more than one") {
  const Variables variables{{"HOST", "10.0.0.1"}, {"PORT", "5432"}};
  CHECK(substitute_with(variables, "${HOST}").text == "10.0.0.1");
  CHECK(substitute_with(variables, "${HOST}:${PORT}").text == "10.0.0.1:5432");
  CHECK(substitute_with(variables, "[${HOST}]").text == "[10.0.0.1]");
  CHECK(substitute_with(variables, "no variable, $HOST, $, }{").text ==
        "no variable, $HOST, $, }{");
}

TEST_CASE("a default stands in for a variable that is unset or empty") {
  const Variables variables{{"SET", "x"}, {"EMPTY", ""}};
  CHECK(substitute_with(variables, "${SET:-y}").text == "x");
  CHECK(substitute_with(variables, "${EMPTY:-y}").text == "y");
  CHECK(substitute_with(variables, "${UNSET:-y}").text == "y");
  CHECK(substitute_with(variables, "${UNSET:-}").text.empty());
  CHECK(substitute_with(variables, "${UNSET:-}").error.empty());
  CHECK(substitute_with(variables, "${UNSET:-a:-b}").text == "a:-b");
}

TEST_CASE("a variable that is set but empty is empty") {
  const Substituted result = substitute_with({{"EMPTY", ""}}, "a${EMPTY}b");
  CHECK(result.text == "ab");
  CHECK(result.error.empty());
}

TEST_CASE("what a variable holds is not looked at again") {
  CHECK(substitute_with({{"A", "${B}"}, {"B", "x"}}, "${A}").text == "${B}");
}

TEST_CASE("an unset variable and a malformed reference are errors") {
  for (const char* text : {"${UNSET}", "${", "a${UNSET", "${}", "${A B}", "${1A}", "${A-x}",
                           "${:-x}", "${A:-${B}}", "${A${B}}"}) {
    CAPTURE(text);
    CHECK_FALSE(substitute_with({{"A", "a"}, {"B", "b"}}, text).error.empty());
  }
}

TEST_CASE("a variable that holds control characters or broken UTF-8 is an error") {
  for (const char* value : {"\x1B[31m", "a\x7F", "\xFF", "\xC3"}) {
    CHECK_FALSE(substitute_with({{"A", value}}, "${A}").error.empty());
  }
}

TEST_CASE("variables set numbers, durations, addresses and names of a file") {
  const Configuration configuration = must_load(
      "workers: ${WORKERS}\n"
      "listeners: [{name: l, bind: [\"127.0.0.1:${PORT:-5432}\"], pool: \"${POOL}\"}]\n"
      "pools:\n"
      "  - name: ${POOL}\n"
      "    timeouts: {connect: \"${CONNECT:-2s}\"}\n"
      "    backends: [{name: b, address: \"${HOST}:5432\"}]\n",
      {{"WORKERS", "3"}, {"POOL", "no"}, {"HOST", "db.internal"}});
  CHECK(configuration.app.workers == 3);
  CHECK(configuration.listeners[0].bind[0].text() == "127.0.0.1:5432");
  CHECK(configuration.listeners[0].pool == "no");  // a variable is text, whatever it spells
  CHECK(configuration.pools[0].timeouts.connect == core::Duration(std::chrono::seconds(2)));
  CHECK(configuration.pools[0].backends[0].address.text() == "db.internal:5432");
}

TEST_CASE("a variable cannot bring YAML into the file") {
  const LoadResult result =
      load_text(small_file("balance: ${B}"), {{"B", "first\n    source_address: 10.0.0.1"}});
  CHECK_FALSE(result.configuration);
  REQUIRE(result.problems.size() == 1);
  CHECK(result.problems[0].path == "pools[0].balance");
}

}  // namespace weir::config
