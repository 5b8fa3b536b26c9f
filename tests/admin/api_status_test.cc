#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;
using namespace std::chrono_literals;

TEST_CASE("GET /v1/status says who is running, since when, and with which configuration") {
  Desk desk;
  desk.control.status_ = {"1.2.3", 4711, 61'234'567us, 3, 4, 5, true};
  CHECK(desk.get("/v1/status").body ==
        R"({"version":"1.2.3","pid":4711,"uptime_s":61.234,"config_generation":3,"workers":4,)"
        R"("sessions":5,"draining":true})"
        "\n");
}

TEST_CASE("GET /healthz is 200 while it serves and 503 while it drains") {
  Desk desk;
  CHECK(desk.get("/healthz").status == 200);
  CHECK(desk.get("/healthz").body == "serving\n");
  CHECK(desk.get("/healthz").type == HttpResponse::kText);
  desk.control.status_.draining = true;
  CHECK(desk.get("/healthz").status == 503);
  CHECK(desk.get("/healthz").body == "draining\n");
}

TEST_CASE("GET /v1/listeners shows each with its counts") {
  Desk desk;
  CHECK(desk.get("/v1/listeners").body ==
        R"({"listeners":[{"name":"orders","bind":["127.0.0.1:5432","[::1]:5432"],)"
        R"("pool":"orders","connections":2,"max_connections":100,)"
        R"("accepted":18446744073709551615,"accept_errors":{"fd_limit":1},)"
        R"("closed":{"client_closed":5},"bytes_in":11,"bytes_out":12,"state":"serving"}]})"
        "\n");
  desk.control.snapshot_.listeners[0].draining = true;
  CHECK(desk.tree("/v1/listeners")["listeners"][0]["state"] == "draining");
}

TEST_CASE("GET /v1/config is the file's tree with every default in it") {
  Desk desk;
  desk.control.configuration_.app.workers = 3;
  proxy::ListenerOptions listener;
  listener.name = "orders";
  listener.bind = {core::parse_endpoint("127.0.0.1:5432").endpoint};
  listener.pool = "p";
  desk.control.configuration_.listeners = {listener};
  const Tree tree = desk.tree("/v1/config");
  CHECK(tree["workers"] == 3);
  CHECK(tree["shutdown"]["deadline"] == "30s");
  CHECK(tree["listeners"][0]["bind"] == Tree::array({"127.0.0.1:5432"}));
  CHECK(tree["listeners"][0]["max_connections"] == 0);
}

TEST_CASE("GET /v1/events shows what came after a number, and the number to go on from") {
  Desk desk;
  CHECK(desk.tree("/v1/events") == Tree::parse(R"({"events":[],"next":0,"oldest":0})"));
  net::Journal& journal = desk.control.journal_;
  journal.add(net::EventKind::circuit, "orders", "pg-a", "open", "3 failures in a row");
  journal.add(net::EventKind::reload, "", "", "accepted", "POST /v1/reload");
  const Tree all = desk.tree("/v1/events");
  CHECK(all["next"] == 2);
  CHECK(all["oldest"] == 1);
  REQUIRE(all["events"].size() == 2);
  Tree first = all["events"][0];
  CHECK(first["ts"].get<std::string>().size() == std::string("2026-11-30T12:00:00.000Z").size());
  first.erase("ts");
  CHECK(first == Tree::parse(R"({"seq":1,"kind":"circuit","pool":"orders","backend":"pg-a",)"
                             R"("to":"open","cause":"3 failures in a row"})"));
  CHECK(all["events"][1]["pool"].is_null());
  CHECK(all["events"][1]["backend"].is_null());
  CHECK(desk.tree("/v1/events?since=1")["events"].size() == 1);
  CHECK(desk.tree("/v1/events?since=2") == Tree::parse(R"({"events":[],"next":2,"oldest":1})"));
  // Of a weir that ran before this one.
  CHECK(desk.tree("/v1/events?since=99")["next"] == 2);
}

TEST_CASE("GET /v1/events says from where on the journal is kept") {
  Desk desk;
  for (std::size_t i = 0; i < net::Journal::kKept + 5; ++i) {
    desk.control.journal_.add(net::EventKind::kill, "", "", "1", "");
  }
  const Tree tree = desk.tree("/v1/events?since=0");
  CHECK(tree["oldest"] == 6);
  CHECK(tree["events"].size() == net::Journal::kKept);
  CHECK(tree["events"][0]["seq"] == 6);
}

TEST_CASE("GET /v1/events refuses what is no number") {
  Desk desk;
  for (const char* text : {"", "-1", "1.0", "0x1", "1e3", "+1", "99999999999999999999", "a"}) {
    CAPTURE(text);
    CHECK(
        desk.refusal(std::string("/v1/events?since=") + text).rfind("400 bad_request since ", 0) ==
        0);
  }
}
