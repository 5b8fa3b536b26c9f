#include "ctl/fields.h"

#include <doctest/doctest.h>

using namespace weir::ctl;

TEST_CASE("fields: what is absent or of another type reads as nothing") {
  const Json body = Json::parse(R"({"a":1,"list":[1,2],"text":"x","minus":-3,"huge":1e300})");
  CHECK(field(body, "b").is_null());
  CHECK(field(Json(3), "a").is_null());
  CHECK(list(body, "a").empty());
  CHECK(list(body, "list").size() == 2);
  CHECK(whole(field(body, "text")) == 0);
  CHECK(whole(field(body, "minus")) == 0);
  CHECK(whole(field(body, "huge")) == 0);
  CHECK(whole(Json(2.9)) == 2);
  CHECK(whole(Json(18'446'744'073'709'551'615U)) == 18'446'744'073'709'551'615U);
  CHECK(!is_true(field(body, "a")));
  CHECK(!time_of(field(body, "text")));
}

TEST_CASE("fields: values as people read them") {
  CHECK(word(Json()) == "-");
  CHECK(word(Json("")) == "-");
  CHECK(word(Json(true)) == "yes");
  CHECK(word(Json(0.5)) == "0.5");
  CHECK(word(Json("a\x1b")) == "a\\x1b");
}

TEST_CASE("fields: no control character of an answer reaches a terminal, as JSON or in a table") {
  const Json body =
      Json::parse("{\"a\\u009b\":[\"\\u001b[2J\",\"\\u0080\\u009f\\u007f\",\"\u00a0\u00e9\"]}");
  const std::string json = R"({"a\u009b":["\u001b[2J","\u0080\u009f\u007f",)"
                           "\"\u00a0\u00e9\"]}";
  CHECK(written(body) == json);
  CHECK(written(body, 2).find(R"("\u0080\u009f\u007f")") != std::string::npos);
  CHECK(Json::parse(written(body, 2)) == body);
  CHECK(word(body) == json);  // of a shape that nobody expects
  CHECK(word(Json("\xc2\x9b"
                  "2J")) == "\\x9b2J");
  CHECK(written(Json("\u00c2")) == "\"\u00c2\"");
}

TEST_CASE("fields: counts by reason, the largest first") {
  const Json counts = Json::parse(R"({"idle_timeout":2,"client_closed":20})");
  CHECK(sum(counts) == 22);
  CHECK(counts_text(counts) == "client_closed 20, idle_timeout 2");
  CHECK(sum(Json()) == 0);
  CHECK(counts_text(Json::object()) == "-");
}
