#include "weir/config/plan.h"

#include <vector>

#include "tests/config/loading.h"

namespace weir::config {
namespace {

using Lines = std::vector<std::string>;

// What a file consists of, each of it to be replaced by a test.
struct File {
  std::string process;
  std::string listener = "bind: [\"127.0.0.1:1\", \"127.0.0.1:2\"], pool: orders";
  std::string more_listeners;
  std::string orders = "balance: first";
  std::string pg_a = "{name: pg-a, address: \"10.0.0.1:1\"}";
  std::string pg_b = "{name: pg-b, address: \"10.0.0.2:1\"}";
  std::string more_backends;
  std::string more_pools;

  Configuration load() const {
    return must_load(process + "listeners:\n  - {name: front, " + listener + "}\n" +
                     more_listeners + "pools:\n  - {name: orders, " + orders + ", backends: [" +
                     pg_a + ", " + pg_b + more_backends + "]}\n" + more_pools);
  }
};

Lines plan_of(const File& now, const File& next) {
  const Plan made = plan(now.load(), next.load());
  CHECK(made.refusals.empty());
  Lines lines;
  for (const PlanItem& item : made.items) lines.push_back(text(item));
  return lines;
}

// The plan from the plain File to `next`, without what is kept.
Lines changes(const File& next) {
  Lines lines = plan_of({}, next);
  std::erase_if(lines, [](const std::string& line) { return line.ends_with(": kept"); });
  return lines;
}

File with_orders(const std::string& keys) {
  File file;
  file.orders += ", " + keys;
  return file;
}

}  // namespace

TEST_CASE("the same file again keeps everything, in the order of the file") {
  CHECK(plan_of({}, {}) == Lines{"process: kept", "listener front: kept", "pool orders: kept",
                                 "backend orders/pg-a: kept", "backend orders/pg-b: kept"});
}

TEST_CASE("a change of resilience retunes the pool and keeps its backends") {
  const File next = with_orders("resilience: {max_fails: 3, fail_timeout: 1m}");
  CHECK(plan_of({}, next) ==
        Lines{"process: kept", "listener front: kept",
              "pool orders: retuned: resilience.max_fails: 1 -> 3; resilience.fail_timeout: 10s "
              "-> 1m",
              "backend orders/pg-a: kept", "backend orders/pg-b: kept"});
}

TEST_CASE("a limit is raised or lowered in the pool that is there") {
  const File low = with_orders("resilience: {max_active_requests: 100}");
  const File high = with_orders("resilience: {max_active_requests: 1000}");
  CHECK(plan_of(low, high)[2] ==
        "pool orders: retuned: resilience.max_active_requests: 100 -> 1000");
  CHECK(plan_of(high, low)[2] ==
        "pool orders: retuned: resilience.max_active_requests: 1000 -> 100");
}

TEST_CASE("a backend is added to a pool that is kept") {
  File next;
  next.more_backends = ", {name: pg-c, address: \"10.0.0.3:1\"}";
  CHECK(plan_of({}, next) == Lines{"process: kept", "listener front: kept", "pool orders: kept",
                                   "backend orders/pg-a: kept", "backend orders/pg-b: kept",
                                   "backend orders/pg-c: added"});
}

TEST_CASE("a backend that is gone from the file drains, and is told last") {
  File now;
  now.more_backends = ", {name: pg-c, address: \"10.0.0.3:1\"}";
  now.more_pools =
      "  - {name: later, resilience: {max_fails: 2}, backends: [{name: x, address: "
      "\"db:1\"}]}\n";
  File next = now;
  next.more_backends = "";
  CHECK(plan_of(now, next) == Lines{"process: kept", "listener front: kept", "pool orders: kept",
                                    "backend orders/pg-a: kept", "backend orders/pg-b: kept",
                                    "pool later: kept", "backend later/x: kept",
                                    "backend orders/pg-c: drained"});
}

TEST_CASE("a backend that is written elsewhere in its pool is the same") {
  File next;
  std::swap(next.pg_a, next.pg_b);
  CHECK(plan_of({}, next) == Lines{"process: kept", "listener front: kept",
                                   "pool orders: retuned: backends: pg-a, pg-b -> pg-b, pg-a",
                                   "backend orders/pg-b: kept", "backend orders/pg-a: kept"});
}

TEST_CASE("one that is added or gone between others does not change their order") {
  File next;
  next.pg_a = "{name: new, address: \"10.0.0.3:1\"}, " + next.pg_a;
  CHECK(changes(next) == Lines{"backend orders/new: added"});
  next = {};
  next.pg_a = "{name: new, address: \"10.0.0.3:1\"}";
  CHECK(changes(next) == Lines{"backend orders/new: added", "backend orders/pg-a: drained"});
}

TEST_CASE("weight, priority and limit of a backend are retuned, its circuit kept") {
  File next;
  next.pg_a = "{name: pg-a, address: \"10.0.0.1:1\", weight: 0, priority: 2, max_active: 3}";
  CHECK(changes(next) ==
        Lines{"backend orders/pg-a: retuned: weight: 1 -> 0; priority: 0 -> 2; max_active: 0 -> "
              "3"});
}

TEST_CASE("balance, timeouts and keepalive of a pool are retuned") {
  File next;
  next.orders = "balance: random_two, timeouts: {connect: 3s}, keepalive: {count: 4}";
  CHECK(changes(next) == Lines{"pool orders: retuned: balance: first -> random_two; "
                               "timeouts.connect: 5s -> 3s; keepalive.count: 3 -> 4"});
}

TEST_CASE("checks that come, change or go are retuned") {
  const File some = with_orders("health: {}");
  CHECK(changes(some) ==
        Lines{"pool orders: retuned: health.type: none -> tcp; health.interval: none -> 5s; "
              "health.timeout: none -> 2s; health.rise: none -> 2; health.fall: none -> 3"});
  CHECK(plan_of(some, with_orders("health: {rise: 5}"))[2] ==
        "pool orders: retuned: health.rise: 2 -> 5");
  CHECK(plan_of(some, {})[2] ==
        "pool orders: retuned: health.type: tcp -> none; health.interval: 5s -> none; "
        "health.timeout: 2s -> none; health.rise: 2 -> none; health.fall: 3 -> none");
}

TEST_CASE("another address behind a backend's name is another backend") {
  File next;
  next.pg_a = "{name: pg-a, address: \"10.0.0.9:1\", weight: 5}";
  CHECK(plan_of({}, next) ==
        Lines{"process: kept", "listener front: kept", "pool orders: kept",
              "backend orders/pg-a: reset: address: 10.0.0.1:1 -> 10.0.0.9:1; weight: 1 -> 5",
              "backend orders/pg-b: kept"});
}

TEST_CASE("another name for a backend's address is another backend") {
  File next;
  next.pg_a = "{name: pg-x, address: \"10.0.0.1:1\"}";
  CHECK(changes(next) == Lines{"backend orders/pg-x: added", "backend orders/pg-a: drained"});
}

TEST_CASE("two backends that exchange their names are both new") {
  File next;
  next.pg_a = "{name: pg-b, address: \"10.0.0.1:1\"}";
  next.pg_b = "{name: pg-a, address: \"10.0.0.2:1\"}";
  CHECK(changes(next) == Lines{"pool orders: retuned: backends: pg-a, pg-b -> pg-b, pg-a",
                               "backend orders/pg-b: reset: address: 10.0.0.2:1 -> 10.0.0.1:1",
                               "backend orders/pg-a: reset: address: 10.0.0.1:1 -> 10.0.0.2:1"});
}

TEST_CASE("a pool is the same by its name alone, and a backend only within its pool") {
  File now;
  now.more_pools =
      "  - {name: gone, resilience: {max_fails: 2}, backends: [{name: pg-a, address: "
      "\"10.0.0.1:1\"}]}\n";
  File next;
  next.more_pools =
      "  - {name: new, resilience: {max_fails: 2}, backends: [{name: pg-a, address: "
      "\"10.0.0.1:1\"}]}\n";
  CHECK(plan_of(now, next) == Lines{"process: kept", "listener front: kept", "pool orders: kept",
                                    "backend orders/pg-a: kept", "backend orders/pg-b: kept",
                                    "pool new: added", "backend new/pg-a: added",
                                    "pool gone: drained", "backend gone/pg-a: drained"});
}

TEST_CASE("a hot key of the process is retuned") {
  File next;
  next.process = "log: {level: debug}\nshutdown: {deadline: 2m}\nhttp: {listen: \"[::1]:9\"}\n";
  CHECK(changes(next) ==
        Lines{"process: retuned: http.listen: none -> [::1]:9; log.level: info -> debug; "
              "shutdown.deadline: 30s -> 2m"});
}

TEST_CASE("a listener whose pool or limit changes keeps its sockets") {
  File now;
  now.more_pools =
      "  - {name: p, resilience: {max_fails: 2}, backends: [{name: x, address: "
      "\"db:1\"}]}\n";
  File next = now;
  next.listener = "bind: [\"127.0.0.1:1\", \"127.0.0.1:2\"], pool: p, max_connections: 7";
  CHECK(plan_of(now, next)[1] ==
        "listener front: retuned: max_connections: 0 -> 7; pool: orders -> p");
}

TEST_CASE("networks that come and go are told one by one, and the sockets stay") {
  File now;
  now.listener = "bind: [\"127.0.0.1:1\"], pool: orders, allow: [10.0.0.0/8, 192.0.2.0/24]";
  File next;
  next.listener = "bind: [\"127.0.0.1:1\"], pool: orders, allow: [192.0.2.0/24, 10.1.0.0/16]";
  CHECK(plan_of(now, next)[1] ==
        "listener front: retuned: allow: 10.0.0.0/8 -> none; allow: none -> 10.1.0.0/16");
}

TEST_CASE("a listener is rebound at the addresses that came and went, and only there") {
  File next;
  next.listener = "bind: [\"127.0.0.1:2\", \"127.0.0.1:3\"], pool: orders, max_connections: 7";
  CHECK(changes(next) == Lines{"listener front: rebound: bind: 127.0.0.1:1 -> none; bind: none -> "
                               "127.0.0.1:3; max_connections: 0 -> 7"});
  next.listener = "bind: [\"127.0.0.1:2\", \"127.0.0.1:1\"], pool: orders";
  CHECK(changes(next).empty());  // the order of addresses means nothing
}

TEST_CASE("[::] is opened anew where 0.0.0.0 comes or goes beside it") {
  File alone;
  alone.listener = "bind: [\"[::]:1\", \"[::]:2\"], pool: orders";
  File beside;
  beside.listener = "bind: [\"0.0.0.0:1\", \"[::]:1\", \"[::]:2\"], pool: orders";
  CHECK(plan_of(alone, beside)[1] ==
        "listener front: rebound: bind: [::]:1 -> none; bind: none -> 0.0.0.0:1; bind: none -> "
        "[::]:1");
  CHECK(plan_of(beside, alone)[1] ==
        "listener front: rebound: bind: 0.0.0.0:1 -> none; bind: [::]:1 -> none; bind: none -> "
        "[::]:1");
}

TEST_CASE("a listener under another name is another listener") {
  File now;
  now.more_listeners =
      "  - {name: b, bind: [\"127.0.0.1:3\"], pool: orders}\n"
      "  - {name: c, bind: [\"127.0.0.1:4\"], pool: orders}\n";
  File next;
  next.more_listeners =
      "  - {name: d, bind: [\"127.0.0.1:3\"], pool: orders}\n"
      "  - {name: c, bind: [\"127.0.0.1:4\"], pool: orders}\n";
  CHECK(plan_of(now, next) == Lines{"process: kept", "listener front: kept", "listener d: added",
                                    "listener c: kept", "pool orders: kept",
                                    "backend orders/pg-a: kept", "backend orders/pg-b: kept",
                                    "listener b: drained"});
}

TEST_CASE("a key that needs an upgrade is refused with the way that can, and changes no item") {
  File now;
  now.process = "workers: 2\n";
  File next;
  next.process =
      "workers: 4\nadmin: {socket: /run/x, mode: 660, owner: weir}\nlog: {format: json}\n";
  const Plan made = plan(now.load(), next.load());
  CHECK(
      made.refusals ==
      std::vector<Refusal>{
          {"workers", "needs an upgrade: send SIGUSR2, or restart (running: 2, file: 4)"},
          {"admin.socket",
           "needs an upgrade: send SIGUSR2, or restart (running: /run/weir/admin.sock, file: "
           "/run/x)"},
          {"admin.mode", "needs an upgrade: send SIGUSR2, or restart (running: 0600, file: 0660)"},
          {"admin.owner",
           "needs an upgrade: send SIGUSR2, or restart (running: none, file: weir)"}});
  REQUIRE(made.items.size() == 5);
  CHECK(text(made.items[0]) == "process: retuned: log.format: text -> json");
  next.process = "workers: 4\n";
  CHECK(text(plan(now.load(), next.load()).items[0]) == "process: kept");
}

TEST_CASE("workers: auto is not the number that it stands for") {
  Configuration number = File().load();
  number.app.workers = 1;
  const Plan made = plan(File().load(), number);
  REQUIRE(made.refusals.size() == 1);
  CHECK(made.refusals[0].message ==
        "needs an upgrade: send SIGUSR2, or restart (running: auto, file: 1)");
}

TEST_CASE("what is written in another way is not changed") {
  File now = with_orders("timeouts: {write_stall: 60s, linger: 1000ms}");
  File next =
      with_orders("timeouts: {write_stall: 1m, linger: 1s, idle: 60m}, source_address: \"\"");
  next.process = "workers: auto\nadmin: {mode: 600}\nlog: {}\n";
  for (const std::string& line : plan_of(now, next)) CHECK(line.ends_with(": kept"));
}

}  // namespace weir::config
