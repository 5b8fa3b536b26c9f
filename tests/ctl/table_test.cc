#include "ctl/table.h"

#include <doctest/doctest.h>

using namespace weir::ctl;

namespace {

Table three() {
  Table table({{"NAME"}, {"COUNT", Align::right}, {"NOTE"}});
  table.add({{"a"}, {"5"}, {"first"}});
  table.add({{"longer"}, {"1000000"}, {}});
  return table;
}

}  // namespace

TEST_CASE("table: texts stand to the left, numbers to the right, and no line ends in spaces") {
  CHECK(text_of(three().lines(), false) ==
        "NAME      COUNT  NOTE\n"
        "a             5  first\n"
        "longer  1000000\n");
}

TEST_CASE("table: an empty cell keeps its place") {
  Table table({{"A"}, {"B", Align::right}, {"C"}});
  table.add({{}, {}, {"c"}});
  table.add({{"xx"}, {"10"}, {"d"}});
  CHECK(text_of(table.lines(), false) ==
        "A    B  C\n"
        "        c\n"
        "xx  10  d\n");
}

TEST_CASE("table: without rows it is its heading") {
  CHECK(text_of(Table({{"A"}, {"B"}}).lines(), false) == "A  B\n");
}

TEST_CASE("table: characters are counted, not bytes") {
  Table table({{"A"}, {"B"}});
  table.add({{"\xc3\xa9\xc3\xa9"}, {"x"}});
  CHECK(text_of(table.lines(), false) == "A   B\n\xc3\xa9\xc3\xa9  x\n");
}

TEST_CASE("table: colours surround the text alone") {
  Table table({{"A"}});
  table.add({{"down", Mark::bad}});
  CHECK(text_of(table.lines(), true) == "\x1b[1mA\x1b[0m\n\x1b[31mdown\x1b[0m\n");
}
