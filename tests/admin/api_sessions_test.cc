#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;
using namespace std::chrono_literals;
using Orders = std::vector<std::string>;

namespace {

proxy::SessionView made_session(std::uint64_t id, const std::string& backend) {
  proxy::SessionView session;
  session.id = id;
  session.listener = "orders";
  session.client = "10.0.0.1:999";
  session.pool = "orders";
  session.backend = backend;
  session.state = proxy::SessionState::relaying;
  session.age = 1'500'999us;
  session.bytes_in = 7;
  session.bytes_out = 8;
  return session;
}

struct Crowded : Desk {
  Crowded() {
    control.sessions_ = {made_session(1, ""), made_session(2, "pg-a"), made_session(3, "pg-b")};
    control.sessions_[0].state = proxy::SessionState::dialling;
    control.sessions_[1].attempts = {
        {"pg-b", "unix:/run/\"x\"", core::DialOutcome::refused, 40us},
        {"pg-a", "127.0.0.1:5432", core::DialOutcome::connected, 1'234'567ns}};
  }
};

}  // namespace

TEST_CASE("GET /v1/sessions shows each with its attempts, null for a backend not yet chosen") {
  Crowded desk;
  desk.control.sessions_.pop_back();
  CHECK(desk.get("/v1/sessions").body ==
        R"({"sessions":[{"id":1,"listener":"orders","client":"10.0.0.1:999","pool":"orders",)"
        R"("backend":null,"state":"dialling","age_ms":1500,"bytes_in":7,"bytes_out":8,)"
        R"("attempts":[]},{"id":2,"listener":"orders","client":"10.0.0.1:999","pool":"orders",)"
        R"("backend":"pg-a","state":"relaying","age_ms":1500,"bytes_in":7,"bytes_out":8,)"
        R"("attempts":[{"backend":"pg-b","address":"unix:/run/\"x\"","outcome":"refused",)"
        R"("ms":0.040},{"backend":"pg-a","address":"127.0.0.1:5432","outcome":"connected",)"
        R"("ms":1.235}]}],"truncated":false})"
        "\n");
  desk.control.sessions_.clear();
  CHECK(desk.tree("/v1/sessions") == Tree::parse(R"({"sessions":[],"truncated":false})"));
}

TEST_CASE("a session whose names hold any byte is JSON all the same") {
  Crowded desk;
  desk.control.sessions_[0].client = "unix:/a\n\xff\"\\";
  desk.control.sessions_[1].attempts[0].address = std::string("unix:\0}", 7);
  CHECK(desk.tree("/v1/sessions")["sessions"].size() == 3);
}

TEST_CASE("GET /v1/sessions asks for those that are meant, and says when there are more") {
  Crowded desk;
  const Tree some = desk.tree("/v1/sessions?limit=2");
  CHECK(some["sessions"].size() == 2);
  CHECK(some["truncated"] == true);
  CHECK(desk.tree("/v1/sessions?limit=3")["truncated"] == false);
  CHECK(desk.tree("/v1/sessions?backend=pg-a")["sessions"].size() == 1);
  CHECK(desk.control.filter_.pool.empty());
  CHECK(desk.tree("/v1/sessions?backend=orders/pg-b&listener=orders")["sessions"][0]["id"] == 3);
  CHECK(desk.control.filter_.pool == "orders");
  CHECK(desk.control.filter_.backend == "pg-b");
  CHECK(desk.control.filter_.listener == "orders");
  CHECK(desk.tree("/v1/sessions?backend=orders%2Fpg-b&pool=orders")["sessions"].size() == 1);
  CHECK(desk.tree("/v1/sessions?pool=cache")["sessions"].empty());
}

TEST_CASE("GET /v1/sessions refuses a filter that can match nothing") {
  Crowded desk;
  CHECK(desk.refusal("/v1/sessions?pool=x") ==
        "404 not_found no pool is named x; pools are orders, cache");
  CHECK(desk.refusal("/v1/sessions?listener=x") ==
        "404 not_found no listener is named x; listeners are orders");
  CHECK(desk.refusal("/v1/sessions?backend=x") == "404 not_found no pool has a backend named x");
  CHECK(desk.refusal("/v1/sessions?backend=cache/pg-a") ==
        "404 not_found pool cache has no backend named pg-a; its backends are redis");
  CHECK(desk.refusal("/v1/sessions?pool=cache&backend=orders/pg-a") ==
        "400 bad_request pool=cache and backend=orders/pg-a are two pools");
  for (const char* limit : {"0", "-1", "", "1000001", "all"}) {
    CAPTURE(limit);
    CHECK(desk.refusal(std::string("/v1/sessions?limit=") + limit)
              .rfind("400 bad_request limit is a number from 1 to 1000000, not '", 0) == 0);
  }
}

TEST_CASE("one session is found by its id and ended by it") {
  Crowded desk;
  CHECK(desk.tree("/v1/sessions/2")["backend"] == "pg-a");
  CHECK(desk.refusal("/v1/sessions/9") == "404 not_found no session has the id 9, or not any more");
  CHECK(desk.refusal("/v1/sessions/x").rfind("400 bad_request a session's id is a number", 0) == 0);
  CHECK(desk.tree("DELETE", "/v1/sessions/2") == Tree::parse(R"({"closed":1})"));
  CHECK(desk.control.orders() == Orders{"kill 2"});
  CHECK(desk.refusal("DELETE", "/v1/sessions/9").rfind("404 ", 0) == 0);
}

TEST_CASE("DELETE /v1/sessions ends those of one backend, named in full") {
  Crowded desk;
  CHECK(desk.tree("DELETE", "/v1/sessions?backend=orders/pg-a") == Tree::parse(R"({"closed":7})"));
  CHECK(desk.control.orders() == Orders{"kill orders pg-a"});
  for (const char* vague : {"/v1/sessions", "/v1/sessions?backend=pg-a", "/v1/sessions?backend="}) {
    CAPTURE(vague);
    CHECK(desk.refusal("DELETE", vague).rfind("400 bad_request which sessions?", 0) == 0);
  }
  CHECK(desk.refusal("DELETE", "/v1/sessions?backend=x/pg-a").rfind("404 ", 0) == 0);
  CHECK(desk.refusal("DELETE", "/v1/sessions?backend=orders/x").rfind("404 ", 0) == 0);
  CHECK(desk.refusal("DELETE", "/v1/sessions?pool=orders").rfind("400 ", 0) == 0);
  CHECK(desk.control.orders().empty());
}
