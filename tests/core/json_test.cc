#include "weir/core/json.h"

#include <doctest/doctest.h>

using weir::core::json_escaped;

TEST_CASE("json: plain text is left as it is") {
  CHECK(json_escaped("127.0.0.1:5432") == "127.0.0.1:5432");
  CHECK(json_escaped("") == "");
}

TEST_CASE("json: quotes and backslashes are escaped, so that a path cannot end its string") {
  CHECK(json_escaped(R"(a"b\c)") == R"(a\"b\\c)");
}

TEST_CASE("json: bytes that are not printable ASCII cannot break the line or its encoding") {
  CHECK(json_escaped("a\nb") == R"(a\u000ab)");
  CHECK(json_escaped("\x7f\xff") == R"(\u007f\u00ff)");
  CHECK(json_escaped(std::string_view("\0", 1)) == R"(\u0000)");
}
