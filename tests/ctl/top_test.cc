#include <doctest/doctest.h>

#include "ctl/fields.h"
#include "tests/ctl/answers.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

struct Weir : FakeAdmin {
  Weir() {
    answers("GET /v1/status", answers::status);
    answers("GET /v1/listeners", answers::listeners);
    Json later = Json::parse(answers::listeners);
    later["listeners"][0]["accepted"] = 1237;
    answers("GET /v1/listeners", later.dump());
    answers("GET /v1/pools", std::string(R"({"pools":[)") + answers::pool + "]}");
    answers("GET /v1/events?since=0", answers::events);
    answers("GET /v1/events?since=7", R"({"events":[],"next":7,"oldest":6})");
  }
};

}  // namespace

TEST_CASE("top: --once prints one frame as plain text, with the rates of a second") {
  const Weir weir;
  const Typed result = typed(weir, {"top", "--once"}, {.colours = true});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.starts_with("weir 0.1.0  up 1h02m"));
  CHECK(result.out.find("orders    serving       12/100         37  0 B/s  0 B/s\n") !=
        std::string::npos);
  CHECK(result.out.find("reload    weir  generation 3: SIGHUP\n") != std::string::npos);
  CHECK(result.out.find('\x1b') == std::string::npos);
}

TEST_CASE("top: --once fails when any of its questions does") {
  const FakeAdmin nobody;
  CHECK(typed(nobody, {"top", "--once"}).code == 1);
  FakeAdmin half;
  half.answers("GET /v1/status", answers::status);
  const Typed result = typed(half, {"top", "--once"});
  CHECK(result.code == 1);
  CHECK(result.err == "weirctl: the test did not say so\n");
}

TEST_CASE("top: without a terminal it says what there is instead") {
  const Weir weir;
  const Typed result = typed(weir, {"top"});
  CHECK(result.code == 2);
  CHECK(result.err == "weirctl: top needs a terminal; top --once prints one screen\n");
}
