#include "admin/router.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;

TEST_CASE("a path that there is not is answered with those that there are") {
  Desk desk;
  for (const char* path : {"/", "/v1", "/v2/status", "/v1/status/", "/v1/pools/", "//v1/status",
                           "/v1/pools/orders/backends", "/v1/pools//backends/pg-a"}) {
    CAPTURE(path);
    const std::string refused = desk.refusal(path);
    CHECK(refused.rfind("404 not_found no such path; paths are /metrics /healthz ", 0) == 0);
  }
}

TEST_CASE("a method that a path does not take is answered with those that it takes") {
  Desk desk;
  const HttpResponse response = desk.ask("PUT", "/v1/sessions");
  CHECK(response.status == 405);
  CHECK(response.allow == "GET, HEAD, DELETE");
  CHECK(desk.refusal("PUT", "/v1/sessions") ==
        "405 method_not_allowed PUT is not for this path; it takes GET, HEAD, DELETE");
  CHECK(desk.ask("GET", "/v1/reload").allow == "POST");
  CHECK(desk.ask("get", "/v1/status").status == 405);
  CHECK(desk.ask("POST", "/v1/pools/orders/backends/pg-a").allow == "GET, HEAD");
}

TEST_CASE("a parameter that a path does not take is an error, and so is one given twice") {
  Desk desk;
  CHECK(desk.refusal("/v1/status?verbose") ==
        "400 bad_request unknown parameter verbose; /v1/status takes none");
  CHECK(desk.refusal("/v1/sessions?pol=a") ==
        "400 bad_request unknown parameter pol; /v1/sessions takes pool, backend, listener, limit");
  CHECK(desk.refusal("/v1/sessions?limit=1&limit=2") ==
        "400 bad_request the parameter limit is given twice");
  CHECK(desk.refusal("/v1/status?=x").rfind("400 bad_request unknown parameter ;", 0) == 0);
  CHECK(desk.get("/v1/status?").status == 200);
  CHECK(desk.get("/v1/status?&").status == 200);
}

TEST_CASE("a name in a path or a parameter may be escaped") {
  Desk desk;
  CHECK(desk.get("/v1/pools/%6frders/backends/pg%2Da").status == 200);
  CHECK(desk.get("/v1/why?pool=order%73").status == 200);
  CHECK(desk.refusal("/v1/pools/a%2Fb") ==
        "404 not_found no pool is named a/b; pools are orders, cache");
  // Whatever it is, the answer is JSON.
  CHECK(desk.refusal("/v1/pools/%00%22%ff%0a").rfind("404 not_found no pool is named ", 0) == 0);
}

TEST_CASE("what can be reached without rights changes nothing and shows no client") {
  Desk desk(read_only_routes());
  for (const char* path : {"/metrics", "/healthz", "/v1/status", "/v1/health", "/v1/listeners",
                           "/v1/pools", "/v1/events"}) {
    CAPTURE(path);
    CHECK(desk.get(path).status == 200);
    CHECK(desk.ask("POST", path).status == 405);
    CHECK(desk.ask("DELETE", path).status == 405);
  }
  for (const char* path : {"/v1/sessions", "/v1/sessions/1", "/v1/config", "/v1/why?pool=orders",
                           "/v1/plan", "/v1/reload", "/v1/shutdown"}) {
    for (const char* method : {"GET", "POST", "DELETE"}) {
      CAPTURE(path);
      CHECK(desk.ask(method, path).status == 404);
    }
  }
  CHECK(desk.ask("POST", "/v1/pools/orders/backends/pg-a/disable").status == 404);
  CHECK(desk.control.orders().empty());
}
