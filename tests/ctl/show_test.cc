#include <doctest/doctest.h>

#include "ctl/fields.h"
#include "tests/ctl/answers.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

// A weir that answers every question as answers.h has it.
struct Weir : FakeAdmin {
  Weir() {
    answers("GET /v1/status", answers::status);
    answers("GET /v1/health", answers::health);
    answers("GET /v1/listeners", answers::listeners);
    answers("GET /v1/pools", std::string(R"({"pools":[)") + answers::pool + "]}");
    answers("GET /v1/pools/orders", answers::pool);
    answers("GET /v1/sessions", answers::sessions);
    answers("GET /v1/why?pool=orders", answers::why);
  }
};

}  // namespace

TEST_CASE("show: status is a line for each thing") {
  const Weir weir;
  const Typed result = typed(weir, {"status"});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(result.out ==
        "version     0.1.0\n"
        "pid         4711\n"
        "uptime      1h02m\n"
        "generation  3\n"
        "workers     2\n"
        "sessions    12\n"
        "state       serving\n");
}

TEST_CASE("show: health has a verdict on each pool above its backends") {
  const Weir weir;
  CHECK(typed(weir, {"health"}).out ==
        "NAME    STATE         CIRCUIT          UNTIL\n"
        "orders  degraded      1 of 2 eligible\n"
        "  pg-a  available     closed           -\n"
        "  pg-b  circuit_open  open             in 3.2s\n");
}

TEST_CASE("show: listeners with their addresses, totals and how their sessions ended") {
  const Weir weir;
  CHECK(typed(weir, {"listeners"}).out ==
        "LISTENER  STATE    POOL    CONNECTIONS  ACCEPTED  ERRORS       IN     OUT  "
        "BIND                    CLOSED\n"
        "orders    serving  orders       12/100      1200       2  1.5 KiB  20 MiB  "
        "0.0.0.0:5432 [::]:5432  client_closed 1180, idle_timeout 8\n");
}

TEST_CASE("show: pools with what they hold, may hold and refused") {
  const Weir weir;
  CHECK(typed(weir, {"pools"}).out ==
        "POOL    VERDICT   BALANCE      ELIGIBLE  ACTIVE  PENDING  RETRIES  NO BUDGET  REJECTED\n"
        "orders  degraded  round_robin       1/2   12/12    3/100        6          2  "
        "proxy_overloaded 4, pending_timeout 1\n");
}

TEST_CASE("show: backends of all pools, or of one") {
  const Weir weir;
  const std::string table =
      "POOL    BACKEND  ADDRESS         STATE         CIRCUIT  UNTIL    HEALTH   ACTIVE  DIALING  "
      "WEIGHT  PRIORITY  DIALS  FAILED  AS\n"
      "orders  pg-a     10.0.0.11:5432  available     closed   -        healthy      12        1  "
      "     1         0   1200       0  -\n"
      "orders  pg-b     10.0.0.12:5432  circuit_open  open     in 3.2s  -          0/90        0  "
      "     1         1      8       7  refused 5, timeout 2\n";
  CHECK(typed(weir, {"backends"}).out == table);
  CHECK(typed(weir, {"backends", "orders"}).out == table);
  CHECK(weir.requests() == std::vector<std::string>{"GET /v1/pools", "GET /v1/pools/orders"});
}

TEST_CASE("show: sessions with their age, and a dash while there is no backend") {
  const Weir weir;
  CHECK(typed(weir, {"sessions"}).out ==
        "ID  LISTENER  CLIENT           POOL    BACKEND  STATE       AGE     IN      OUT  DIALS\n"
        "41  orders    192.0.2.7:50782  orders  pg-a     relaying  2m05s  100 B  2.0 KiB      2\n"
        "42  orders    192.0.2.8:50001  orders  -        queued    350ms    0 B      0 B      0\n");
}

TEST_CASE("show: the filters of sessions are sent escaped, and a list that was cut says so") {
  FakeAdmin weir;
  weir.answers("GET /v1/sessions?pool=a%20b&backend=orders%2Fpg-a&listener=l&limit=1",
               R"({"sessions":[],"truncated":true})");
  const Typed result = typed(weir, {"sessions", "--limit=1", "--pool", "a b", "--backend",
                                    "orders/pg-a", "--listener", "l"});
  CHECK(result.code == 0);
  CHECK(result.out.find("\nand more: --limit") != std::string::npos);
}

TEST_CASE("show: why says for each backend whether it is eligible, and what would change it") {
  const Weir weir;
  CHECK(typed(weir, {"why", "orders"}).out ==
        "orders: degraded\n"
        "BACKEND  PRIORITY  GATE      STATE         UNTIL    HINT\n"
        "pg-a            0  eligible  available     -        -\n"
        "pg-b            1  circuit   circuit_open  in 3.2s  "
        "the next client after that is a probe; weirctl circuit orders/pg-b close\n");
}

TEST_CASE("show: colours are for terminals, and mark what is not well") {
  const Weir weir;
  const std::string coloured = typed(weir, {"health"}, {.colours = true}).out;
  CHECK(coloured.find("\x1b[31mcircuit_open\x1b[0m") != std::string::npos);
  CHECK(coloured.find("\x1b[33mdegraded\x1b[0m") != std::string::npos);
  CHECK(coloured.find("  available  ") != std::string::npos);
  // A pool at its limit, and a queue that is not.
  const std::string pools = typed(weir, {"pools"}, {.colours = true}).out;
  CHECK(pools.find("\x1b[33m12/12\x1b[0m") != std::string::npos);
  CHECK(pools.find("  3/100  ") != std::string::npos);
}

TEST_CASE("show: with --json it is what weir said, every key in its place") {
  const Weir weir;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--json", "status"}, {"status", "--json"}}) {
    const Typed result = typed(weir, arguments);
    CHECK(result.code == 0);
    CHECK(result.out ==
          "{\n  \"version\": \"0.1.0\",\n  \"pid\": 4711,\n  \"uptime_s\": 3723.5,\n"
          "  \"config_generation\": 3,\n  \"workers\": 2,\n  \"sessions\": 12,\n"
          "  \"draining\": false\n}\n");
  }
  for (const char* command : {"health", "listeners", "pools", "sessions"}) {
    const Typed result = typed(weir, {command, "--json"});
    const std::string body = command == std::string("health")      ? answers::health
                             : command == std::string("listeners") ? answers::listeners
                             : command == std::string("sessions")
                                 ? answers::sessions
                                 : std::string(R"({"pools":[)") + answers::pool + "]}";
    CHECK(Json::parse(result.out) == Json::parse(body));
  }
}

TEST_CASE("show: an operator's hand on a circuit is seen") {
  FakeAdmin weir;
  weir.answers("GET /v1/health", R"({"pools":[{"name":"p","verdict":"ok","eligible":1,"backends":[
    {"name":"a","state":"circuit_open","circuit":{"phase":"open","forced_open":true}},
    {"name":"b","state":"available","circuit":{"phase":"closed","bypassed":true}},
    {"name":"c","state":"available","circuit":{"phase":"closed","enabled":false}}]}]})");
  const std::string out = typed(weir, {"health"}).out;
  CHECK(out.find("open (forced)") != std::string::npos);
  CHECK(out.find("closed (bypassed)") != std::string::npos);
  CHECK(out.find("closed (off)") != std::string::npos);
}

TEST_CASE("show: an answer with less in it is shown as far as it goes") {
  FakeAdmin weir;
  for (const char* path : {"status", "health", "listeners", "pools", "sessions", "config"}) {
    weir.answers(std::string("GET /v1/") + path, R"({"pools":[{"backends":[{}]}],"sessions":[7]})");
    const Typed result = typed(weir, {path});
    CHECK(result.code == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("show: a client's name cannot command the terminal") {
  FakeAdmin weir;
  weir.answers("GET /v1/sessions", R"({"sessions":[{"id":1,"client":"unix:\u001b[2J"}]})");
  CHECK(typed(weir, {"sessions"}).out.find("unix:\\x1b[2J") != std::string::npos);
}
