#include "ctl/lines.h"

#include <doctest/doctest.h>

using namespace weir::ctl;

TEST_CASE("lines: a clipped line keeps whole characters and its marks") {
  CHECK(clipped("abc", 5) == "abc");
  CHECK(clipped("abc", 2) == "ab");
  CHECK(clipped("\xc3\xa9\xc3\xa9", 1) == "\xc3\xa9");
  CHECK(clipped("abc", 0).empty());
  const Line line{{"ab"}, {"cd", Mark::bad}, {"ef"}};
  CHECK(clipped(line, 3) == Line{{"ab"}, {"c", Mark::bad}});
  CHECK(clipped(line, 2) == Line{{"ab"}});
  CHECK(clipped(line, 0).empty());
}

TEST_CASE("lines: a mark without text leaves no trace") {
  CHECK(text_of({{{"", Mark::bad}, {"x"}}, {}}, true) == "x\n\n");
}
