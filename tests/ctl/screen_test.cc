#include "ctl/screen.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/ctl/answers.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;
using namespace std::chrono_literals;

namespace {

View view_of_orders() {
  View view;
  view.sample = {SteadyTime(1s), Json::parse(answers::status), Json::parse(answers::listeners),
                 Json{{"pools", Json::array({Json::parse(answers::pool)})}}};
  const Json journal = Json::parse(answers::events);
  for (const Json& event : list(journal, "events")) view.events.push_back(event);
  return view;
}

// One pool of so many backends.
View view_of_many(int backends) {
  View view = view_of_orders();
  Json& pool = view.sample.pools["pools"][0];
  pool["backends"] = Json::array();
  for (int i = 0; i < backends; ++i) pool["backends"].push_back({{"name", fmt::format("b{}", i)}});
  return view;
}

std::string text(const View& view, ScreenSize size = {}) {
  return text_of(frame(view, noon(), size), false);
}

}  // namespace

TEST_CASE("screen: a frame has a head, listeners, pools, backends and events") {
  CHECK(text(view_of_orders()) ==
        "weir 0.1.0  up 1h02m  generation 3  12 sessions\n"
        "\n"
        "LISTENER  STATE    CONNECTIONS  ACCEPTS/S  IN  OUT\n"
        "orders    serving       12/100          -   -    -\n"
        "\n"
        "POOL    VERDICT   ELIGIBLE  ACTIVE  PENDING  REFUSED/S\n"
        "orders  degraded       1/2   12/12    3/100          -\n"
        "\n"
        "BACKEND      STATE         CIRCUIT  UNTIL    ACTIVE  DIALING  DIALS/S  FAILED/S\n"
        "orders/pg-a  available     closed   -            12        1        -         -\n"
        "orders/pg-b  circuit_open  open     in 3.2s    0/90        0        -         -\n"
        "\n"
        "EVENTS\n"
        "2026-11-30T11:59:50.000Z  circuit   orders/pg-b  open: 3 failures in a row, the last one "
        "refused\n"
        "2026-11-30T11:59:55.500Z  reload    weir  generation 3: SIGHUP\n");
}

TEST_CASE("screen: rates stand where two samples give some") {
  View view = view_of_orders();
  Sample later = view.sample;
  later.at += 1s;
  later.listeners["listeners"][0]["accepted"] = 1225;
  later.listeners["listeners"][0]["bytes_out"] = 20'971'520 + 3'145'728;
  later.pools["pools"][0]["admission"]["rejected"]["pending_timeout"] = 3;
  later.pools["pools"][0]["backends"][1]["totals"]["failures"]["refused"] = 6;
  view.rates = Rates(view.sample, later);
  view.sample = later;
  const std::string drawn = text(view);
  CHECK(drawn.find("orders    serving       12/100         25  0 B/s  3.0 MiB/s\n") !=
        std::string::npos);
  CHECK(drawn.find("orders  degraded       1/2   12/12    3/100        2.0\n") !=
        std::string::npos);
  CHECK(drawn.find("in 3.2s    0/90        0        0       1.0\n") != std::string::npos);
}

TEST_CASE("screen: draining and a failed poll are told at the top") {
  View view = view_of_orders();
  view.sample.status["draining"] = true;
  view.failure = "cannot reach x";
  CHECK(text(view).starts_with(
      "weir 0.1.0  up 1h02m  generation 3  12 sessions  draining\ncannot reach x; trying again\n"));
  CHECK(text(View{}).starts_with("weir\n"));
}

TEST_CASE("screen: a list that is too long is cut, and says by how much") {
  const std::string drawn = text(view_of_many(30), {24, 200});
  // 24 rows: the head, 4 empty ones, 2 listeners, 2 pools, 3 events, and 12 for the backends.
  CHECK(drawn.find("orders/b9 ") != std::string::npos);
  CHECK(drawn.find("orders/b10 ") == std::string::npos);
  CHECK(drawn.find("\nand 20 more\n") != std::string::npos);
  CHECK(frame(view_of_many(30), noon(), {24, 200}).size() == 24);
  // With a row more for each it all fits, and nothing is cut.
  CHECK(text(view_of_many(30), {43, 200}).find("more") == std::string::npos);
  CHECK(text(view_of_many(30), {42, 200}).find("and 2 more") != std::string::npos);
}

TEST_CASE("screen: of events the last ones stay") {
  View view = view_of_orders();
  view.events.clear();
  for (int i = 0; i < 30; ++i) view.events.push_back({{"ts", fmt::format("event-{}.", i)}});
  const std::string whole_one = text(view);
  CHECK(whole_one.find("event-19.") == std::string::npos);
  CHECK(whole_one.find("event-20.") != std::string::npos);
  CHECK(whole_one.find("event-29.") != std::string::npos);
  const std::string small = text(view, {16, 200});
  CHECK(small.find("event-29.") != std::string::npos);
  CHECK(small.find("event-20.") == std::string::npos);
}

TEST_CASE("screen: a frame is never larger than the screen") {
  const View view = view_of_many(5);
  for (std::size_t rows = 1; rows < 30; ++rows) {
    for (std::size_t columns = 1; columns < 60; columns += 7) {
      const auto lines = frame(view, noon(), {rows, columns});
      CHECK(lines.size() <= rows);
      for (const Line& line : lines) {
        std::size_t width = 0;
        for (const Span& span : line) width += width_of(span.text);
        CHECK(width <= columns);
      }
    }
  }
}

TEST_CASE("screen: short sections get all they want, long ones share what is left") {
  using Rows = std::vector<std::size_t>;
  CHECK(shares({2, 3, 4}, 20) == Rows{2, 3, 4});
  CHECK(shares({2, 50, 3, 40}, 25) == Rows{2, 10, 3, 10});
  CHECK(shares({50, 2}, 10) == Rows{8, 2});
  CHECK(shares({5, 5}, 0) == Rows{0, 0});
  CHECK(shares({}, 5).empty());
}
