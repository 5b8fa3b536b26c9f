#include "ctl/request.h"

#include <doctest/doctest.h>

using namespace weir::ctl;

TEST_CASE("request: a name is one segment of the path, whatever is in it") {
  CHECK(path({"status"}) == "/v1/status");
  CHECK(path({"pools", "a/b c?", "backends", ".."}) == "/v1/pools/a%2Fb%20c%3F/backends/..");
  CHECK(path({"pools", "\xc3\xa9"}) == "/v1/pools/%C3%A9");
}

TEST_CASE("request: parameters are escaped, and those without a value left out") {
  CHECK(query({}).empty());
  CHECK(query({{"pool", ""}, {"limit", ""}}).empty());
  CHECK(query({{"pool", ""}, {"backend", "a/b&c"}, {"limit", "5"}}) ==
        "?backend=a%2Fb%26c&limit=5");
}
