#include "ctl/orders.h"

#include <doctest/doctest.h>

#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

// pg-a as it is after an order.
std::string backend(const std::string& state, int active, const std::string& until = "null",
                    const std::string& circuit = R"("phase":"closed")") {
  return R"({"name":"pg-a","state":")" + state + R"(","active":)" + std::to_string(active) +
         R"(,"dialing":0,"drain_until":)" + until + R"(,"circuit":{)" + circuit + "}}";
}

const std::string kPath = "/v1/pools/orders/backends/pg-a";

}  // namespace

TEST_CASE("orders: disable and enable say what the backend is then") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/disable", backend("disabled", 3));
  weir.answers("POST " + kPath + "/enable", backend("available", 3));
  const Typed disabled = typed(weir, {"disable", "orders/pg-a"});
  CHECK(disabled.code == 0);
  CHECK(disabled.out == "orders/pg-a: disabled, circuit closed, 3 active\n");
  CHECK(typed(weir, {"enable", "orders/pg-a"}).out ==
        "orders/pg-a: available, circuit closed, 3 active\n");
  for (const FakeAdmin::Seen& seen : weir.seen()) CHECK(seen.body.empty());
}

TEST_CASE("orders: names are escaped on their way") {
  FakeAdmin weir;
  weir.answers("POST /v1/pools/a%20b/backends/c%3F/enable", backend("available", 0));
  CHECK(typed(weir, {"enable", "a b/c?"}).code == 0);
}

TEST_CASE("orders: a circuit is overridden by each of the four words") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/circuit/open",
               backend("circuit_open", 0, "null", R"("phase":"open","forced_open":true)"));
  for (const char* action : {"close", "bypass", "auto"}) {
    weir.answers("POST " + kPath + "/circuit/" + action, backend("available", 0));
  }
  CHECK(typed(weir, {"circuit", "orders/pg-a", "open"}).out ==
        "orders/pg-a: circuit_open, circuit open (forced), 0 active\n");
  for (const char* action : {"close", "bypass", "auto"}) {
    CHECK(typed(weir, {"circuit", "orders/pg-a", action}).code == 0);
  }
}

TEST_CASE("orders: a circuit that takes no orders is told in weir's words, and is no success") {
  FakeAdmin weir;
  const std::string refusal =
      R"({"error":{"code":"conflict","message":"circuit_enabled is false in pool orders"}})";
  weir.answers("POST " + kPath + "/circuit/open", refusal, 409);
  const Typed refused = typed(weir, {"circuit", "orders/pg-a", "open"});
  CHECK(refused.code == 1);
  CHECK(refused.out.empty());
  CHECK(refused.err == "weirctl: circuit_enabled is false in pool orders\n");
}

TEST_CASE("orders: a drain sends its deadline, and says when it ends") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/drain", backend("draining", 3, R"("2026-11-30T12:00:30.000Z")"));
  CHECK(typed(weir, {"drain", "orders/pg-a", "--deadline", "30s"}).out ==
        "orders/pg-a: draining, circuit closed, 3 active, ends in 30s\n");
  CHECK(typed(weir, {"drain", "orders/pg-a"}).code == 0);
  CHECK(weir.seen()[0].body == R"({"deadline":"30s"})");
  CHECK(weir.seen()[1].body.empty());
}

TEST_CASE("orders: a refused drain is told and not waited for") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/drain",
               R"({"error":{"code":"bad_request","message":"a deadline is written 30s"}})", 400);
  const Typed result = typed(weir, {"drain", "orders/pg-a", "--deadline", "x", "--wait"});
  CHECK(result.code == 1);
  CHECK(result.err == "weirctl: a deadline is written 30s\n");
  CHECK(weir.requests().size() == 1);
}

TEST_CASE("orders: drain --wait returns when no session and no dial is left") {
  FakeAdmin weir;
  const std::string get = "GET " + kPath;
  weir.answers("POST " + kPath + "/drain", backend("draining", 2));
  weir.answers(get, backend("draining", 2));
  weir.answers(get, R"({"state":"draining","active":0,"dialing":1})");
  weir.answers(get, backend("draining", 0));
  int pauses = 0;
  const Typed result =
      typed(weir, {"drain", "orders/pg-a", "--wait"}, {.pause = [&] { return ++pauses < 100; }});
  CHECK(result.code == 0);
  CHECK(result.out == "orders/pg-a: draining, circuit closed, 2 active\norders/pg-a: drained\n");
  CHECK(pauses == 2);
}

TEST_CASE("orders: drain --wait is done when the backend is gone altogether") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/drain", backend("draining", 2));
  const Typed result = typed(weir, {"drain", "orders/pg-a", "--wait"});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
}

TEST_CASE("orders: drain --wait fails when somebody ends the drain, or weir goes away") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/drain", backend("draining", 2));
  weir.answers("GET " + kPath, backend("available", 2));
  const Typed ended = typed(weir, {"drain", "orders/pg-a", "--wait"});
  CHECK(ended.code == 1);
  CHECK(ended.err == "weirctl: orders/pg-a is not draining any more\n");
  FakeAdmin other;
  other.answers("POST " + kPath + "/drain", backend("draining", 2));
  other.answers("GET " + kPath, backend("draining", 2));
  const Typed gone = typed(other, {"drain", "orders/pg-a", "--wait"}, {.pause = [&] {
                             other.stop();
                             return true;
                           }});
  CHECK(gone.code == 1);
  CHECK(gone.err.starts_with("weirctl: cannot reach "));
}

TEST_CASE("orders: Ctrl-C ends the waiting, not the drain, and is no success") {
  FakeAdmin weir;
  weir.answers("POST " + kPath + "/drain", backend("draining", 2));
  weir.answers("GET " + kPath, backend("draining", 2));
  const Typed result =
      typed(weir, {"drain", "orders/pg-a", "--wait"}, {.pause = [] { return false; }});
  CHECK(result.code == 1);
  CHECK(result.err == "weirctl: no longer waiting; the drain of orders/pg-a goes on\n");
}

TEST_CASE("orders: kill closes one session, or all of a backend, and counts them") {
  FakeAdmin weir;
  weir.answers("DELETE /v1/sessions/41", R"({"closed":1})");
  weir.answers("DELETE /v1/sessions?backend=orders%2Fpg-a", R"({"closed":12})");
  CHECK(typed(weir, {"kill", "41"}).out == "closed 1 session\n");
  CHECK(typed(weir, {"kill", "--backend", "orders/pg-a"}).out == "closed 12 sessions\n");
  CHECK(typed(weir, {"kill", "41", "--json"}).out == "{\n  \"closed\": 1\n}\n");
}

TEST_CASE("orders: shutdown is one request") {
  FakeAdmin weir;
  weir.answers("POST /v1/shutdown", R"({"draining":true})");
  const Typed result = typed(weir, {"shutdown"});
  CHECK(result.code == 0);
  CHECK(result.out == "weir drains, then exits\n");
}
