#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;
using Orders = std::vector<std::string>;

namespace {

const std::string kBackend = "/v1/pools/orders/backends/pg-a";

}  // namespace

TEST_CASE("orders to a backend are given and answered with the backend") {
  Desk desk;
  for (const char* order : {"drain", "disable", "enable"}) {
    CAPTURE(order);
    CHECK(desk.tree("POST", kBackend + "/" + order)["name"] == "pg-a");
  }
  CHECK(desk.control.orders() ==
        Orders{"drain orders pg-a -1", "disable orders pg-a", "enable orders pg-a"});
  for (const char* order : {"open", "close", "bypass", "auto"}) {
    CAPTURE(order);
    CHECK(desk.tree("POST", kBackend + "/circuit/" + order, "{}")["name"] == "pg-a");
  }
  CHECK(desk.control.orders() == Orders{"circuit orders pg-a 0", "circuit orders pg-a 1",
                                        "circuit orders pg-a 2", "circuit orders pg-a 3"});
}

TEST_CASE("a drain may have an end, in the words of the configuration file") {
  Desk desk;
  desk.tree("POST", kBackend + "/drain", R"({"deadline":"30s"})");
  desk.tree("POST", kBackend + "/drain", R"( {"deadline" : "250ms"} )");
  desk.tree("POST", kBackend + "/drain", "{}");
  CHECK(desk.control.orders() ==
        Orders{"drain orders pg-a 30000", "drain orders pg-a 250", "drain orders pg-a -1"});
  for (const char* wrong : {"30", "\"30\"", "\"-1s\"", "\"1.5s\"", "null", "\"\"", "[]"}) {
    CAPTURE(wrong);
    CHECK(desk.refusal("POST", kBackend + "/drain", std::string(R"({"deadline":)") + wrong + "}") ==
          std::string("400 bad_request deadline is a duration like \"30s\" or \"500ms\", not ") +
              wrong);
  }
  CHECK(desk.refusal("POST", kBackend + "/drain", R"({"dead":"30s"})") ==
        "400 bad_request unknown member dead in the body; it takes deadline");
  CHECK(desk.control.orders().empty());
}

TEST_CASE("a body that is no JSON is refused with its position, and nothing is done") {
  Desk desk;
  const std::string refused = desk.refusal("POST", kBackend + "/drain", "{\"deadline\":\n nope}");
  CHECK(refused.rfind("400 bad_request the body is not JSON: parse error at line 2, column 3", 0) ==
        0);
  for (const char* wrong : {"[]", "1", "\"x\"", "null"}) {
    CHECK(desk.refusal("POST", kBackend + "/drain", wrong) ==
          "400 bad_request the body must be a JSON object");
  }
  for (const char* order : {"/disable", "/enable", "/circuit/open"}) {
    CAPTURE(order);
    CHECK(desk.refusal("POST", kBackend + order, R"({"deadline":"1s"})") ==
          "400 bad_request unknown member deadline in the body; it takes none");
  }
  const std::string deep(1'000'000, '[');
  CHECK(desk.ask("POST", kBackend + "/drain", deep).status == 400);
  CHECK(desk.ask("POST", kBackend + "/drain", deep + std::string(1'000'000, ']')).status == 400);
  CHECK(desk.ask("POST", "/v1/shutdown", "x").status == 400);
  CHECK(desk.control.orders().empty());
}

TEST_CASE("an order to what is not there does nothing and says what there is") {
  Desk desk;
  CHECK(desk.refusal("POST", "/v1/pools/x/backends/pg-a/drain") ==
        "404 not_found no pool is named x; pools are orders, cache");
  CHECK(desk.refusal("POST", "/v1/pools/orders/backends/x/enable") ==
        "404 not_found pool orders has no backend named x; its backends are pg-a, pg-b");
  CHECK(
      desk.refusal("POST", kBackend + "/circuit/reset") ==
      "404 not_found no order to a circuit is called reset; orders are open, close, bypass, auto");
  CHECK(desk.control.orders().empty());
}

TEST_CASE("an order that a leaving backend does not take is a conflict") {
  Desk desk;
  desk.control.obeys_ = false;
  CHECK(desk.refusal("POST", kBackend + "/enable") ==
        "409 conflict orders/pg-a is gone from the configuration and takes no orders");
}

TEST_CASE("an order to a circuit that the configuration has switched off is a conflict") {
  Desk desk;
  Snapshot::Backend& backend = desk.control.snapshot_.pools[0].backends[0];
  backend.circuit.enabled = false;
  for (const char* order : {"open", "close", "bypass"}) {
    CAPTURE(order);
    CHECK(desk.refusal("POST", kBackend + "/circuit/" + order) ==
          "409 conflict circuit_enabled is false in pool orders: its circuits admit everybody and "
          "take no orders; to keep clients away from orders/pg-a use disable or drain");
  }
  CHECK(desk.control.orders().empty());
  // One that was given before may be taken back.
  CHECK(desk.tree("POST", kBackend + "/circuit/auto")["name"] == "pg-a");
  CHECK(desk.tree("POST", kBackend + "/disable")["name"] == "pg-a");
  CHECK(desk.control.orders() == Orders{"circuit orders pg-a 3", "disable orders pg-a"});
  backend.removed = true;
  desk.control.obeys_ = false;
  CHECK(desk.refusal("POST", kBackend + "/circuit/open") ==
        "409 conflict orders/pg-a is gone from the configuration and takes no orders");
}

TEST_CASE("POST /v1/shutdown begins the drain") {
  Desk desk;
  CHECK(desk.tree("POST", "/v1/shutdown") == Tree::parse(R"({"draining":true})"));
  CHECK(desk.control.orders() == Orders{"shut down"});
}
