#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/e2e/config_text.h"
#include "tests/e2e/crowd.h"
#include "tests/e2e/planned.h"
#include "tests/e2e/service.h"
#include "tests/e2e/test_weir.h"

// Listeners that a reload sends to another pool, and those who wait in the one before.
namespace weir::e2e {
namespace {

using core::CloseReason;

const std::string kOne = "max_active_requests: 1, max_pending_requests: 100, pending_timeout: 0s";

// Listeners `front` and `back` to a pool `old`, which serves one at a time, beside a pool `new`.
struct Stage {
  explicit Stage(int workers) : text{workers, {}, {}, ""} {
    text.listeners = {{"front", {"127.0.0.1:1"}, "old", ""}, {"back", {"127.0.0.1:2"}, "old", ""}};
    text.pools = {{"old", backends_at({old_one.address()}), kOne, ""},
                  {"new", backends_at({new_one.address()}), "", ""}};
  }

  Service old_one;
  Service new_one;
  ConfigText text;
};

// One who is served and keeps the slot, and so many who wait behind.
struct Queue {
  Queue(const TestWeir& weir, const std::string& listener, std::size_t waiting)
      : holder(Stream::connect(weir.address(listener))) {
    ask(holder);
    join(weir, listener, waiting);
  }
  void join(const TestWeir& weir, const std::string& listener, std::size_t more) {
    waiters.come(weir.address(listener), more);
    const std::size_t all = waiters.size();
    weir.wait_until([all](const admin::Snapshot& now) { return now.pool("old").pending == all; },
                    "they wait");
  }
  void close() {
    holder.close();
    waiters = {};
  }

  Stream holder;
  Crowd waiters;
};

std::uint64_t refused(const TestWeir& weir) {
  std::uint64_t sum = 0;
  for (const auto& listener : weir.snapshot().listeners) {
    sum += listener.closed_as(CloseReason::upstream_unavailable);
  }
  return sum;
}

TEST_CASE("reload: who comes goes to the listener's new pool, who is there stays where they are") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 5);
    stage.text.listener("front").pool = "new";
    CHECK(reload_as_planned(weir, stage.text.yaml()) ==
          std::vector<std::string>{"listener front: retuned: pool: old -> new"});
    for (int i = 0; i < 8; ++i) {
      Stream client = weir.connect();
      ask(client);
    }
    CHECK(stage.new_one.accepted() == 8);
    ask(queue.holder);
    CHECK(weir.snapshot().pool("old").pending == 5);
    // The pool stays, so its waiters are served, one after the other.
    queue.holder.close();
    while (queue.waiters.size() > 0) queue.waiters.send_away_one();
    CHECK(stage.old_one.accepted() == 6);
    CHECK(stage.old_one.peak() == 1);
    CHECK(refused(weir) == 0);
    weir.settle();
  }
}

TEST_CASE("reload: waiters of a pool that is removed are refused, its sessions run on") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 3);
    queue.join(weir, "back", 3);
    stage.text.listener("front").pool = stage.text.listener("back").pool = "new";
    stage.text.pools.erase(stage.text.pools.begin());
    CHECK(weir.reload(stage.text.yaml()).accepted);
    queue.waiters.expect_refused(6);
    weir.wait_until([&](const admin::Snapshot&) { return refused(weir) == 6; },
                    "they are refused as upstream_unavailable");
    ask(queue.holder);
    CHECK(weir.snapshot().pool("old").removed);
    CHECK(stage.old_one.accepted() == 1);
    queue.close();
    weir.wait_until([](const admin::Snapshot& now) { return now.pools.size() == 1; },
                    "the pool is forgotten");
    weir.settle();
  }
}

TEST_CASE("reload: waiters are refused with their pool, also when their listener left it before") {
  for (const int workers : {1, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 4);
    stage.text.listener("front").pool = "new";
    weir.reload(stage.text.yaml());
    CHECK(weir.snapshot().pool("old").pending == 4);
    stage.text.listener("back").pool = "new";
    stage.text.pools.erase(stage.text.pools.begin());
    weir.reload(stage.text.yaml());
    queue.waiters.expect_refused(4);
    CHECK(stage.old_one.accepted() == 1);
    queue.close();
    weir.settle();
  }
}

TEST_CASE("reload: a listener that goes takes its own waiters with it, and nobody else's") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 3);
    queue.join(weir, "back", 3);
    stage.text.listeners.erase(stage.text.listeners.begin());
    stage.text.listeners[0].pool = "old";
    CHECK(weir.reload(stage.text.yaml()).accepted);
    queue.waiters.expect_refused(3);
    CHECK(weir.snapshot().pool("old").pending == 3);
    ask(queue.holder);
    queue.holder.close();
    while (queue.waiters.size() > 0) queue.waiters.send_away_one();
    weir.wait_until([](const admin::Snapshot& now) { return now.listeners.size() == 1; },
                    "the listener is forgotten");
    CHECK(stage.old_one.accepted() == 4);
    CHECK(weir.log(7).size() == 7);
    CHECK(weir.snapshot().pool("old").rejected_as(CloseReason::upstream_unavailable) == 3);
    CHECK(weir.snapshot().sessions == 0);
  }
}

TEST_CASE("reload: a listener that goes takes those along who wait in a pool that it had before") {
  for (const int workers : {1, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 2);
    queue.join(weir, "back", 1);
    stage.text.listener("front").pool = "new";
    weir.reload(stage.text.yaml());
    stage.text.listeners.erase(stage.text.listeners.begin());
    stage.text.listeners.push_back({"other", {"127.0.0.1:3"}, "new", ""});
    weir.reload(stage.text.yaml());
    queue.waiters.expect_refused(2);
    CHECK(weir.snapshot().pool("old").pending == 1);
    queue.close();
    weir.wait_until([](const admin::Snapshot& now) { return now.sessions == 0; }, "all are gone");
  }
}

TEST_CASE("reload: who waited is dialled for by the configuration that is then in force") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 3);
    stage.text.pool("old").backends[0].address = stage.new_one.address();
    weir.reload(stage.text.yaml());
    queue.holder.close();
    while (queue.waiters.size() > 0) queue.waiters.send_away_one();
    CHECK(stage.old_one.accepted() == 1);
    CHECK(stage.new_one.accepted() == 3);
    weir.settle();
  }
}

TEST_CASE("reload: a pool that comes back is full of those who never left") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    TestWeir weir(stage.text.yaml());
    Queue queue(weir, "front", 0);
    const ConfigText both = stage.text;
    stage.text.listener("front").pool = stage.text.listener("back").pool = "new";
    stage.text.pools.erase(stage.text.pools.begin());
    weir.reload(stage.text.yaml());
    weir.reload(both.yaml());
    CHECK(weir.snapshot().pool("old").active == 1);
    CHECK_FALSE(weir.snapshot().pool("old").removed);
    queue.join(weir, "front", 1);
    queue.holder.close();
    queue.waiters.send_away_one();
    weir.settle();
  }
}

// The bound is the listener's, and its count goes on.
TEST_CASE("reload: max_connections that is lowered ends nobody and refuses who comes") {
  for (const int workers : {1, 2, 4}) {
    Stage stage(workers);
    stage.text.listener("front").pool = "new";
    TestWeir weir(stage.text.yaml());
    std::vector<Stream> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(weir.connect());
      ask(clients.back());
    }
    stage.text.listener("front").keys = "max_connections: 2";
    weir.reload(stage.text.yaml());
    const auto refuse_one = [&weir] {
      Stream late = weir.connect();
      late.expect_end();
    };
    refuse_one();
    for (Stream& client : clients) ask(client);
    clients.pop_back();
    weir.wait_until([](const admin::Snapshot& now) { return now.pool("new").active == 2; }, "two");
    refuse_one();
    clients.pop_back();
    weir.wait_until([](const admin::Snapshot& now) { return now.pool("new").active == 1; }, "one");
    clients.push_back(weir.connect());
    ask(clients.back());
    weir.wait_until(
        [](const admin::Snapshot& now) {
          return now.listener("front").closed_as(CloseReason::listener_full) == 2;
        },
        "two are refused as listener_full");
    clients.clear();
    weir.settle();
  }
}

}  // namespace
}  // namespace weir::e2e
