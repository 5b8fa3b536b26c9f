#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/planned.h"
#include "tests/e2e/service.h"

// What leaves the configuration and comes back while its sessions live, and what a plan says of it.
namespace weir::e2e {
namespace {

using Lines = std::vector<std::string>;

// A pool with two backends, both with a session that came through `side`, which another listener
// and another pool can replace.
struct Stage {
  explicit Stage(int workers) {
    all = {workers,
           {{}, {"side", {"127.0.0.1:2"}}},
           {{"servers", backends_at({a.address(), b.address()})}},
           "shutdown: {deadline: 5s}\n"};
    weir.emplace(all.yaml());
    for (int i = 0; i < 2; ++i) {
      clients.push_back(Stream::connect(weir->address("side")));
      ask(clients.back());
    }
  }
  Lines change(const ConfigText& to) {
    Lines lines = reload_as_planned(*weir, to.yaml());
    for (Stream& client : clients) ask(client);
    return lines;
  }

  const Service a;
  const Service b;
  const Service c;
  ConfigText all;
  std::optional<TestWeir> weir;
  std::vector<Stream> clients;
};

TEST_CASE("reload: a plan says resumed of what comes back to its sessions, and added after them") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    ConfigText without_side = stage.all;
    without_side.listeners.pop_back();
    ConfigText without_b2 = stage.all;
    without_b2.pool().backends.pop_back();
    ConfigText elsewhere = stage.all;
    elsewhere.pools = {{"others", backends_at({stage.c.address()})}};
    for (ListenerText& listener : elsewhere.listeners) listener.pool = "others";

    CHECK(stage.change(without_side) == Lines{"listener side: drained"});
    CHECK(stage.change(stage.all) == Lines{"listener side: resumed"});
    CHECK(stage.change(without_b2) == Lines{"backend servers/b2: drained"});
    CHECK(stage.change(stage.all) == Lines{"backend servers/b2: resumed"});
    stage.change(elsewhere);
    const Lines back = stage.change(stage.all);
    CHECK(back == Lines{"listener front: retuned: pool: others -> servers",
                        "listener side: retuned: pool: others -> servers", "pool servers: resumed",
                        "backend servers/b1: resumed", "backend servers/b2: resumed",
                        "pool others: drained", "backend others/b1: drained"});

    stage.change(without_side);
    stage.clients.clear();
    stage.weir->wait_until(
        [](const admin::Snapshot& now) { return now.sessions == 0 && now.listeners.size() == 1; },
        "side is forgotten");
    CHECK(stage.change(stage.all) == Lines{"listener side: added"});
  }
}

// What of a pool nobody uses is the pool's own as long as that lives.
TEST_CASE("reload: a pool that comes back has those of its backends again that nobody uses") {
  for (const int workers : {1, 4}) {
    Stage stage(workers);
    stage.clients.pop_back();
    stage.weir->wait_until([](const admin::Snapshot& now) { return now.sessions == 1; }, "one");
    ConfigText elsewhere = stage.all;
    elsewhere.pools = {{"others", backends_at({stage.c.address()})}};
    for (ListenerText& listener : elsewhere.listeners) listener.pool = "others";
    stage.change(elsewhere);
    ConfigText other = stage.all;
    other.pool().backends.push_back({"b3", stage.c.address()});
    const Lines back = stage.change(other);
    REQUIRE(back.size() == 8);
    CHECK(back[2] == "pool servers: resumed");
    CHECK(back[3] == "backend servers/b1: resumed");
    CHECK(back[4] == "backend servers/b2: resumed");
    CHECK(back[5] == "backend servers/b3: added");
    stage.clients.clear();
    stage.weir->settle();
  }
}

}  // namespace
}  // namespace weir::e2e
