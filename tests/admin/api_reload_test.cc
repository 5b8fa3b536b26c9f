#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;
using config::PlanAction;
using config::PlanKind;
using Orders = std::vector<std::string>;

namespace {

Reload accepted() {
  Reload reload;
  reload.accepted = true;
  reload.generation = 4;
  reload.plan.items = {
      {PlanKind::process, "weir", PlanAction::kept, {}},
      {PlanKind::pool, "orders", PlanAction::retuned, {{"timeouts.connect", "5s", "2s"}}},
      {PlanKind::backend, "orders/pg-a", PlanAction::reset, {{"address", "a:1", "b:1"}}},
      {PlanKind::listener, "orders", PlanAction::rebound, {}},
      {PlanKind::backend, "orders/pg-b", PlanAction::added, {}},
      {PlanKind::backend, "orders/pg-c", PlanAction::drained, {}}};
  reload.problems = {{3, 5, "pools[0]", "a single failed dial", true}};
  return reload;
}

const char* const kWarning =
    R"([{"line":3,"column":5,"path":"pools[0]","message":"a single failed dial"}])";

}  // namespace

TEST_CASE("POST /v1/plan shows what a reload would do to each item") {
  Desk desk;
  desk.control.reload_ = accepted();
  const HttpResponse response = desk.ask("POST", "/v1/plan", "listeners: []");
  CHECK(response.status == 200);
  CHECK(response.body ==
        R"({"changes":[{"kind":"process","name":"weir","action":"kept","keys":[]},)"
        R"({"kind":"pool","name":"orders","action":"retuned",)"
        R"("keys":[{"key":"timeouts.connect","from":"5s","to":"2s"}]},)"
        R"({"kind":"backend","name":"orders/pg-a","action":"reset",)"
        R"("keys":[{"key":"address","from":"a:1","to":"b:1"}]},)"
        R"({"kind":"listener","name":"orders","action":"rebound","keys":[]},)"
        R"({"kind":"backend","name":"orders/pg-b","action":"added","keys":[]},)"
        R"({"kind":"backend","name":"orders/pg-c","action":"drained","keys":[]}],)"
        R"("errors":[],"warnings":)" +
            std::string(kWarning) + "}\n");
  CHECK(desk.control.orders() == Orders{"plan listeners: []"});
  desk.ask("POST", "/v1/plan");
  CHECK(desk.control.orders() == Orders{"plan the file"});
}

TEST_CASE("POST /v1/reload answers with what was done and the generation in force") {
  Desk desk;
  desk.control.reload_ = accepted();
  const Tree tree = desk.tree("POST", "/v1/reload");
  CHECK(tree["config_generation"] == 4);
  CHECK(tree["changes"].size() == 6);
  CHECK(desk.control.orders() == Orders{"reload the file"});
  desk.tree("POST", "/v1/reload", "workers: 2");
  CHECK(desk.control.orders() == Orders{"reload workers: 2"});
}

TEST_CASE("a refused plan or reload is 409 with every error and its position") {
  Desk desk;
  Reload& refused = desk.control.reload_;
  refused = accepted();
  refused.accepted = false;
  refused.problems.push_back({7, 1, "pools[1].name", "a duplicate", false});
  refused.problems.push_back({1, 10, "workers", "needs an upgrade", false});
  const std::string expected =
      R"({"errors":[{"line":7,"column":1,"path":"pools[1].name","message":"a duplicate"},)"
      R"({"line":1,"column":10,"path":"workers","message":"needs an upgrade"}],"warnings":)" +
      std::string(kWarning) + "}\n";
  for (const char* path : {"/v1/plan", "/v1/reload"}) {
    CAPTURE(path);
    const HttpResponse response = desk.ask("POST", path);
    CHECK(response.status == 409);
    CHECK(response.body == expected);
  }
}
