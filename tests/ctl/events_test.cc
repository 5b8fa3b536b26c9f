#include "ctl/events.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/ctl/answers.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

constexpr const char* kLines =
    "2026-11-30T11:59:50.000Z  circuit   orders/pg-b  open: 3 failures in a row, the last one "
    "refused\n"
    "2026-11-30T11:59:55.500Z  reload    weir  generation 3: SIGHUP\n";

constexpr const char* kNone = R"({"events":[],"next":7,"oldest":6})";
constexpr const char* kEighth =
    R"({"events":[{"seq":8,"ts":"2026-11-30T12:00:01.000Z","kind":"drain","pool":"orders",
        "backend":"pg-a","to":"draining","cause":"weirctl"}],"next":8,"oldest":6})";
constexpr const char* kEighthLine =
    "2026-11-30T12:00:01.000Z  drain     orders/pg-a  draining: weirctl\n";
// The first event of a weir that was started again.
constexpr const char* kAnew =
    R"({"events":[{"seq":1,"ts":"2026-11-30T12:01:00.000Z","kind":"health","pool":"orders",
        "backend":"pg-a","to":"healthy","cause":"2 checks in a row"}],"next":1,"oldest":1})";
constexpr const char* kAnewLine =
    "2026-11-30T12:01:00.000Z  health    orders/pg-a  healthy: 2 checks in a row\n";

// A weir with two events, and what follows them.
struct Weir : FakeAdmin {
  Weir() {
    answers("GET /v1/status", answers::status);
    answers("GET /v1/events?since=0", answers::events);
  }
};

}  // namespace

TEST_CASE("events: the journal is printed a line for each event, from --since on") {
  Weir weir;
  weir.answers("GET /v1/events", answers::events);
  weir.answers("GET /v1/events?since=7", kNone);
  CHECK(typed(weir, {"events"}).out == kLines);
  CHECK(typed(weir, {"events", "--since", "7"}).out.empty());
  CHECK(Json::parse(typed(weir, {"events", "--json"}).out) == Json::parse(answers::events));
}

TEST_CASE("events: --follow goes on with what is new, until Ctrl-C, which is no failure") {
  Weir weir;
  weir.answers("GET /v1/events?since=7", kNone);
  weir.answers("GET /v1/events?since=7", kEighth);
  weir.answers("GET /v1/events?since=8", R"({"events":[],"next":8,"oldest":6})");
  int pauses = 0;
  const Typed result = typed(weir, {"events", "--follow"}, {.pause = [&] { return ++pauses < 4; }});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(result.out == fmt::format("{}{}", kLines, kEighthLine));
}

TEST_CASE("events: with --json each event that is followed is one line") {
  Weir weir;
  const std::string out =
      typed(weir, {"events", "--follow", "--json"}, {.pause = [] { return false; }}).out;
  const std::size_t end = out.find('\n');
  REQUIRE(end != std::string::npos);
  CHECK(Json::parse(out.substr(0, end)) == Json::parse(answers::events)["events"][0]);
}

TEST_CASE("events: --follow lives through a restart, says so, and shows nothing twice") {
  Weir weir;
  // Another process, whose numbers have come as far already.
  weir.answers("GET /v1/status", R"({"pid":4712})");
  weir.answers("GET /v1/events?since=0", kAnew);
  weir.answers("GET /v1/events?since=1", R"({"events":[],"next":1,"oldest":1})");
  weir.answers("GET /v1/events?since=7", kNone);
  int pauses = 0;
  const Typed result = typed(weir, {"events", "--follow"}, {.pause = [&] {
                               if (++pauses == 2) weir.stop();
                               if (pauses == 4) weir.start();
                               return pauses < 6;
                             }});
  CHECK(result.code == 0);
  CHECK(result.out == fmt::format("{}{}", kLines, kAnewLine));
  CHECK(result.err ==
        "weirctl: cannot reach " + weir.socket() +
            ": No such file or directory (is weir running? --socket or WEIR_SOCKET names "
            "another); trying again\n"
            "weirctl: weir has been restarted\nweirctl: weir answers again\n");
}

TEST_CASE("events: a restart between two looks shows in the numbers") {
  Weir weir;
  weir.answers("GET /v1/events?since=7", R"({"events":[],"next":1,"oldest":1})");
  weir.answers("GET /v1/events?since=0", kAnew);
  const Typed result = typed(weir, {"events", "--follow"});
  CHECK(result.out == fmt::format("{}{}", kLines, kAnewLine));
  CHECK(result.err == "weirctl: weir has been restarted\n");
}

TEST_CASE("events: events that were lost between two looks are told") {
  Weir weir;
  weir.answers("GET /v1/events?since=7", R"({"events":[],"next":12,"oldest":10})");
  CHECK(typed(weir, {"events", "--follow"}).err ==
        "weirctl: 2 events came and went unseen: the journal holds no more\n");
}

TEST_CASE("events: a socket that is wrong from the beginning is a failure, followed or not") {
  FakeAdmin weir;
  weir.stop();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"events"}, {"events", "--follow"}}) {
    const Typed result = typed(weir, arguments);
    CHECK(result.code == 1);
    CHECK(result.err.starts_with("weirctl: cannot reach "));
  }
}
