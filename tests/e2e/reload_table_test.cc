#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/planned.h"
#include "tests/e2e/service.h"
#include "weir/admin/control.h"

// Each change that a reload can bring to a pool that is at work: what the plan says, and that it is
// so afterwards.
namespace weir::e2e {
namespace {

using admin::CircuitOrder;
using core::CircuitPhase;
using Lines = std::vector<std::string>;

constexpr const char* kHealth = "health: {interval: 1h}";

// One pool of three backends, a session on each, and circuits of which one is open, each with an
// epoch of its own, by which it is known again.
struct World {
  explicit World(int workers)
      : servers(services(4)), text{workers, {{}}, {{"servers", {}, "", ""}}, ""} {
    text.pool().backends = backends_at(addresses_of(servers));
    text.pool().backends.pop_back();
    weir.emplace(text.yaml());
    for (int i = 0; i < 3; ++i) {
      clients.push_back(weir->connect());
      ask(clients.back());
    }
    weir->control([](admin::Control& control) {
      for (const int times : {1, 2, 3}) {
        const std::string backend = fmt::format("b{}", times);
        for (int i = 0; i < times; ++i) {
          control.order("servers", backend, CircuitOrder::open);
          control.order("servers", backend, CircuitOrder::close);
        }
      }
      control.order("servers", "b3", CircuitOrder::open);
    });
  }

  // Changes the text, reloads, and looks at what all rows have in common.
  Lines change(const std::function<void(ConfigText&)>& how) {
    how(text);
    const Lines lines = reload_as_planned(*weir, text.yaml());
    check_gauges_add_up(weir->snapshot());
    for (Stream& client : clients) ask(client);
    return lines;
  }
  // The same, and back again.
  Lines change_and_back(const std::function<void(ConfigText&)>& how) {
    const ConfigText before = text;
    const Lines lines = change(how);
    change([&before](ConfigText& to) { to = before; });
    return lines;
  }
  admin::Snapshot::Backend backend(const std::string& name) const {
    return weir->snapshot().backend("servers", name);
  }

  std::vector<std::unique_ptr<Service>> servers;
  ConfigText text;
  std::optional<TestWeir> weir;
  std::vector<Stream> clients;
};

void end(World& world) {
  const admin::Snapshot now = world.weir->snapshot();
  REQUIRE(now.pools.size() == 1);
  CHECK(now.pool("servers").backends.size() == 3);
  CHECK(now.pool("servers").active == 3);
  world.clients.clear();
  world.weir->settle();
}

TEST_CASE("reload: what does not move a backend keeps its sessions, its totals and its circuit") {
  for (const int workers : {1, 2, 4}) {
    World world(workers);
    const auto pool = [](const std::string& keys) {
      return [keys](ConfigText& text) { text.pool().keys = keys; };
    };
    const auto backend = [](const std::string& keys) {
      return [keys](ConfigText& text) { text.pool().backends[2].keys = keys; };
    };
    CHECK(world.change([](ConfigText&) {}).empty());
    CHECK(world.change_and_back([](ConfigText& text) {
      text.pool().resilience = "max_fails: 7, fail_timeout: 3s, circuit_half_open_probes: 2";
    }) == Lines{"pool servers: retuned: resilience.max_fails: 1 -> 7; resilience.fail_timeout: 10s "
                "-> 3s; resilience.circuit_half_open_probes: 1 -> 2"});
    CHECK(world.change_and_back([](ConfigText& text) {
      text.pool().resilience = "max_active_requests: 3";
    }) == Lines{"pool servers: retuned: resilience.max_active_requests: 0 -> 3"});
    CHECK(world.change_and_back(backend("weight: 5")) ==
          Lines{"backend servers/b3: retuned: weight: 1 -> 5"});
    CHECK(world.change_and_back(backend("priority: 2")) ==
          Lines{"backend servers/b3: retuned: priority: 0 -> 2"});
    CHECK(world.change_and_back(backend("max_active: 9")) ==
          Lines{"backend servers/b3: retuned: max_active: 0 -> 9"});
    CHECK(world.change_and_back(pool("balance: first")) ==
          Lines{"pool servers: retuned: balance: round_robin -> first"});
    CHECK(world.change_and_back(pool("timeouts: {connect: 1s}")) ==
          Lines{"pool servers: retuned: timeouts.connect: 5s -> 1s"});
    CHECK(world.change_and_back([](ConfigText& text) {
      std::swap(text.pool().backends[0], text.pool().backends[2]);
    }) == Lines{"pool servers: retuned: backends: b1, b2, b3 -> b3, b2, b1"});
    CHECK(world.change(pool(kHealth)).size() == 1);  // added
    CHECK(world.backend("b3").health.has_value());
    CHECK(world.change(pool("health: {interval: 30m}")) ==
          Lines{"pool servers: retuned: health.interval: 1h -> 30m"});
    CHECK(world.change(pool("")).size() == 1);  // removed
    CHECK_FALSE(world.backend("b3").health.has_value());
    CHECK(world.change_and_back([](ConfigText& text) {
      text.listener().keys = "max_connections: 100";
    }) == Lines{"listener front: retuned: max_connections: 0 -> 100"});
    CHECK(world.change_and_back([](ConfigText& text) {
      text.process = "log: {level: warning}\nshutdown: {deadline: 1s}\n";
    }) == Lines{"process: retuned: log.level: info -> warning; shutdown.deadline: 200ms -> 1s"});
    CHECK(world.backend("b3").state == upstream::BackendState::circuit_open);
    CHECK(world.backend("b3").circuit.forced_open);
    end(world);
  }
}

TEST_CASE("reload: a backend that is added begins with nothing and takes sessions at once") {
  for (const int workers : {1, 2, 4}) {
    World world(workers);
    CHECK(world.change([&world](ConfigText& text) {
      text.pool().backends.push_back({"b4", world.servers[3]->address()});
    }) == Lines{"backend servers/b4: added"});
    const std::size_t before = world.servers[3]->accepted();
    for (int i = 0; i < 3; ++i) {
      Stream client = world.weir->connect();
      ask(client);
    }
    CHECK(world.servers[3]->accepted() == before + 1);
    world.weir->wait_until([](const admin::Snapshot& now) { return now.sessions == 3; },
                           "the three are over");
    CHECK(world.change([](ConfigText& text) { text.pool().backends.pop_back(); }) ==
          Lines{"backend servers/b4: drained"});
    end(world);
  }
}

TEST_CASE("reload: sessions of a backend that is removed run on, are counted, and end it") {
  for (const int workers : {1, 2, 4}) {
    World world(workers);
    const auto without_b2 = [](ConfigText& text) {
      text.pool().backends.erase(text.pool().backends.begin() + 1);
    };
    // Removed and added back in one: the same file again, or another order.
    CHECK(world.change_and_back(without_b2) == Lines{"backend servers/b2: drained"});
    CHECK(world.backend("b2").circuit.epoch == 5);
    CHECK(world.change(without_b2).size() == 1);
    admin::Snapshot::Backend left = world.backend("b2");
    CHECK(left.removed);
    CHECK(left.state == upstream::BackendState::draining);
    CHECK(left.active == 1);
    const std::size_t accepted = world.servers[1]->accepted();
    for (int i = 0; i < 6; ++i) {
      Stream client = world.weir->connect();
      ask(client);
    }
    CHECK(world.servers[1]->accepted() == accepted);
    world.weir->wait_until([](const admin::Snapshot& now) { return now.sessions == 3; },
                           "the six are over");
    // With the last of its sessions it is forgotten, all but its totals.
    const admin::Snapshot before = world.weir->snapshot();
    world.clients.erase(world.clients.begin() + 1);
    const admin::Snapshot after = world.weir->wait_until(
        [](const admin::Snapshot& now) { return now.pool("servers").backends.size() == 2; },
        "b2 is forgotten");
    check_totals_grew(before, after);
    CHECK(after.pool("servers").totals.dials == before.pool("servers").totals.dials);
    CHECK(after.pool("servers").totals.transitions == before.pool("servers").totals.transitions);
    CHECK(after.pool("servers").active == 2);
    // Whoever comes back later begins anew.
    CHECK(world.change([&world](ConfigText& text) {
      text.pool().backends.insert(text.pool().backends.begin() + 1,
                                  {"b2", world.servers[1]->address()});
    }) == Lines{"backend servers/b2: added"});
    CHECK(world.backend("b2").circuit.epoch == 1);
    world.clients.push_back(world.weir->connect());
    ask(world.clients.back());
    world.weir->wait_until([](const admin::Snapshot& now) { return now.sessions == 3; }, "three");
    end(world);
  }
}

TEST_CASE(
    "ST-01: a name with another address is another backend, and the old one's sessions run "
    "on") {
  for (const int workers : {1, 2, 4}) {
    World world(workers);
    const auto b3_at = [&world](std::size_t place) {
      return [&world, place](ConfigText& text) {
        text.pool().backends[2].address = world.servers[place]->address();
      };
    };
    CHECK(world.change(b3_at(3)) ==
          Lines{fmt::format("backend servers/b3: reset: address: {} -> {}",
                            world.servers[2]->address(), world.servers[3]->address())});
    CHECK(world.backend("b3").circuit.phase == CircuitPhase::closed);  // the new one is first
    Stream fresh = world.weir->connect();
    ask(fresh);
    Stream other = world.weir->connect();
    ask(other);
    Stream third = world.weir->connect();
    ask(third);
    CHECK(world.servers[3]->accepted() == 1);
    CHECK(world.servers[2]->accepted() == 1);
    // And back while both have a session: each is the one that it was.
    CHECK(world.change(b3_at(2)) ==
          Lines{fmt::format("backend servers/b3: resumed: address: {} -> {}",
                            world.servers[3]->address(), world.servers[2]->address())});
    admin::Snapshot now = world.weir->snapshot();
    REQUIRE(now.pool("servers").backends.size() == 4);
    CHECK(now.pool("servers").backends[2].circuit.forced_open);
    CHECK(now.pool("servers").backends[2].active == 1);
    CHECK(now.pool("servers").backends[3].removed);
    CHECK(now.pool("servers").backends[3].active == 1);
    CHECK(now.pool("servers").active == 6);
    for (Stream* client : {&fresh, &other, &third}) client->close();
    world.weir->wait_until(
        [](const admin::Snapshot& seen) { return seen.pool("servers").backends.size() == 3; },
        "the other is forgotten");
    end(world);
  }
}

TEST_CASE("ST-01: backends that come and go under their sessions are counted right throughout") {
  for (const int workers : {1, 4}) {
    World world(workers);
    admin::Snapshot before = world.weir->snapshot();
    const std::vector<BackendText> all = world.text.pool().backends;
    for (std::size_t round = 0; round < 24; ++round) {
      world.change([&](ConfigText& text) {
        text.pool().backends = all;
        if (round % 2 == 0) {
          text.pool().backends.erase(text.pool().backends.begin() +
                                     static_cast<std::ptrdiff_t>(round / 2 % 3));
        }
        if (round % 3 == 0) text.pool().backends[0].address = world.servers[3]->address();
      });
      const admin::Snapshot after = world.weir->snapshot();
      check_totals_grew(before, after);
      CHECK(after.pool("servers").active == 3);
      before = after;
    }
    world.change([&all](ConfigText& text) { text.pool().backends = all; });
    world.weir->wait_until(
        [](const admin::Snapshot& now) { return now.pool("servers").backends.size() == 3; },
        "those without a session are forgotten");
    end(world);
  }
}

TEST_CASE("reload: a pool that is removed keeps its sessions, and is itself when it comes back") {
  for (const int workers : {1, 2, 4}) {
    World world(workers);
    const auto elsewhere = [&world](ConfigText& text) {
      text.pools = {{"others", backends_at({world.servers[3]->address()}), "", ""}};
      text.listener().pool = "others";
    };
    const Lines gone = world.change_and_back(elsewhere);
    CHECK(gone == Lines{"listener front: retuned: pool: servers -> others", "pool others: added",
                        "backend others/b1: added", "pool servers: drained",
                        "backend servers/b1: drained", "backend servers/b2: drained",
                        "backend servers/b3: drained"});
    world.change(elsewhere);
    CHECK(world.weir->snapshot().pool("servers").removed);
    Stream client = world.weir->connect();
    ask(client);
    CHECK(world.servers[3]->accepted() == 1);
    client.close();
    world.clients.clear();
    world.weir->wait_until([](const admin::Snapshot& now) { return now.pools.size() == 1; },
                           "the pool is forgotten with its last session");
    world.weir->settle();
  }
}

}  // namespace
}  // namespace weir::e2e
