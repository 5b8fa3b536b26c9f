#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/crowd.h"
#include "tests/e2e/planned.h"
#include "tests/e2e/service.h"

// Limits that a reload raises or lowers while the pool is full and clients wait.
namespace weir::e2e {
namespace {

using core::CloseReason;

std::string limits(int active, int pending) {
  return fmt::format(
      "max_active_requests: {}, max_pending_requests: {}, pending_timeout: 0s, "
      "circuit_enabled: false",
      active, pending);
}

void wait_for(const TestWeir& weir, std::uint64_t active, std::uint64_t pending,
              At at = At::here()) {
  weir.wait_until(
      [=](const admin::Snapshot& now) {
        const auto& pool = now.pool("servers");
        return pool.active == active && pool.pending == pending;
      },
      fmt::format("{} are served and {} wait", active, pending), at);
}

TEST_CASE("ADM-04: a limit lowered by a reload drains down, and nobody is dialled until below it") {
  for (const int workers : {1, 2, 4}) {
    const DeadPort refusing;  // half of the dials are repeated
    const Service server;
    ConfigText text{
        workers, {{}}, {{"servers", backends_at({refusing.address(), server.address()})}}, ""};
    text.pool().resilience = limits(10, 1000);
    TestWeir weir(text.yaml());
    Crowd crowd;
    crowd.come(weir.address(), 300);
    wait_for(weir, 10, 290);
    text.pool().resilience = limits(4, 1000);
    CHECK(reload_as_planned(weir, text.yaml()).size() == 1);
    wait_for(weir, 10, 290);
    weir.wait_until([&](const admin::Snapshot&) { return server.accepted() == 10; }, "10 came");
    for (std::uint64_t active = 10; active > 4; --active) {
      crowd.send_away_one();
      wait_for(weir, active - 1, 290);
      CHECK(server.accepted() == 10);
    }
    weir.wait_until([&](const admin::Snapshot&) { return server.connections() == 4; },
                    "4 are left");
    // From there on one for one.
    for (std::uint64_t pending = 290; pending > 200; --pending) {
      crowd.send_away_one();
      wait_for(weir, 4, pending - 1);
    }
    weir.wait_until([&](const admin::Snapshot&) { return server.accepted() == 100; }, "100 came");
    CHECK(server.peak() <= 10);
    // Raised again: as many more as it admits, without anybody leaving.
    text.pool().resilience = limits(9, 1000);
    CHECK(weir.reload(text.yaml()).accepted);
    wait_for(weir, 9, 195);
    weir.wait_until([&](const admin::Snapshot&) { return server.connections() == 9; }, "9 at once");
    while (crowd.size() > 0) crowd.send_away_one();
    weir.settle();
    CHECK(server.accepted() == 300);
    CHECK(server.peak() <= 10);
  }
}

TEST_CASE("a limit of the pool that a reload takes away serves all who wait") {
  for (const int workers : {1, 2, 4}) {
    const Service server;
    ConfigText text{workers, {{}}, {{"servers", backends_at({server.address()})}}, ""};
    text.pool().resilience = limits(1, 100);
    TestWeir weir(text.yaml());
    Crowd crowd;
    crowd.come(weir.address(), 20);
    wait_for(weir, 1, 19);
    text.pool().resilience = "circuit_enabled: false";
    weir.reload(text.yaml());
    wait_for(weir, 20, 0);
    while (crowd.size() > 0) crowd.send_away_one();
    weir.settle();
  }
}

TEST_CASE("a queue that a reload shortens refuses who waits beyond its end") {
  for (const int workers : {1, 2, 4}) {
    const Service server;
    ConfigText text{workers, {{}}, {{"servers", backends_at({server.address()})}}, ""};
    text.pool().resilience = limits(1, 10);
    TestWeir weir(text.yaml());
    Crowd crowd;
    crowd.come(weir.address(), 6);
    wait_for(weir, 1, 5);
    text.pool().resilience = limits(1, 2);
    weir.reload(text.yaml());
    wait_for(weir, 1, 2);
    crowd.expect_refused(3);
    CHECK(weir.snapshot().pool("servers").rejected_as(CloseReason::proxy_overloaded) == 3);
    Stream late = weir.connect();
    late.expect_end();
    late.close();
    while (crowd.size() > 0) crowd.send_away_one();
    weir.settle();
    CHECK(server.accepted() == 3);
  }
}

TEST_CASE("ADM-04: the limit of a backend that a reload lowers sends who comes to the others") {
  for (const int workers : {1, 2, 4}) {
    const auto servers = services(2);
    ConfigText text{workers, {{}}, {{"servers", backends_at(addresses_of(servers))}}, ""};
    text.pool().keys = "balance: first";
    text.pool().backends[0].keys = "max_active: 5";
    TestWeir weir(text.yaml());
    std::vector<Stream> clients;
    const auto one_more = [&] {
      clients.push_back(weir.connect());
      ask(clients.back());
    };
    for (int i = 0; i < 5; ++i) one_more();
    CHECK(servers[0]->accepted() == 5);
    text.pool().backends[0].keys = "max_active: 3";
    CHECK(reload_as_planned(weir, text.yaml()).size() == 1);
    CHECK(weir.snapshot().backend("servers", "b1").state == upstream::BackendState::at_capacity);
    const auto leave_first = [&](std::uint64_t left) {
      clients[0].close();
      clients.erase(clients.begin());
      weir.wait_until(
          [left](const admin::Snapshot& now) {
            return now.backend("servers", "b1").active == left;
          },
          "it has left");
    };
    one_more();
    leave_first(4);
    one_more();
    leave_first(3);
    one_more();
    CHECK(servers[0]->accepted() == 5);
    CHECK(servers[1]->accepted() == 3);
    leave_first(2);
    one_more();
    CHECK(servers[0]->accepted() == 6);
    text.pool().backends[0].keys = "max_active: 4";
    weir.reload(text.yaml());
    one_more();
    CHECK(servers[0]->accepted() == 7);
    clients.clear();
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
