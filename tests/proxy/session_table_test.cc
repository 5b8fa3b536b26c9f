#include "weir/proxy/session_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <vector>

#include "tests/proxy/service.h"

using namespace weir;
using namespace weir::net;
using namespace weir::proxy;
using core::CloseReason;
using upstream::made_pool;

TEST_CASE("session ids are unique over all workers, and short") {
  Loop loop;
  std::atomic<std::size_t> gauge{0};
  SessionTable first(loop, 0, 3, gauge);
  SessionTable second(loop, 1, 3, gauge);
  SessionTable third(loop, 2, 3, gauge);
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 100; ++i) {
    for (SessionTable* table : {&first, &second, &third}) ids.insert(table->next_id());
  }
  CHECK(ids.size() == 300);
  CHECK(*ids.begin() == 1);
  CHECK(*ids.rbegin() == 300);
}

TEST_CASE("the gauge shows the live sessions, and being empty is told once they are retired") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  int told = 0;
  service.table.on_empty([&] {
    ++told;
    CHECK(service.table.empty());
  });
  std::vector<Peer> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(service.client());
  CHECK(service.until(
      [&] { return service.pool.backend(0).dials(core::DialOutcome::connected) == 3; }));
  CHECK(service.gauge.load() == 3);
  CHECK(service.table.size() == 3);
  clients[0].reset();
  CHECK(service.until([&] { return service.gauge.load() == 2; }));
  CHECK(told == 0);
  clients.clear();
  for (int i = 0; i < 3; ++i) backend.accept().close();
  CHECK(service.until([&] { return told > 0; }));
  CHECK(told == 1);
  CHECK(service.gauge.load() == 0);
}

TEST_CASE("every session is visited, though visits end sessions") {
  Backlog backend;
  Service service(made_pool({backend.address().text()}));
  std::vector<Peer> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(service.client());
  CHECK(service.until([&] { return service.table.size() == 5; }));
  std::set<std::uint64_t> visited;
  service.table.for_each([&](Session& session) {
    visited.insert(session.id());
    session.cut(CloseReason::killed, true);
  });
  CHECK(visited.size() == 5);
  CHECK(service.table.empty());
  service.settle();
  CHECK(service.closed_as(CloseReason::killed) == 5);
}
