#include "weir/admin/snapshot.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/admin/asking.h"

using namespace weir;
using namespace weir::admin;
using core::CloseReason;

TEST_CASE("a snapshot is one JSON object on one line, with what the API shows") {
  Desk desk;
  const std::string text = desk.control.snapshot_.json();
  CHECK(text.find('\n') == std::string::npos);
  Tree tree = Tree::parse(text);
  CHECK(tree["listeners"] == desk.tree("/v1/listeners")["listeners"]);
  CHECK(tree["pools"] == desk.tree("/v1/pools")["pools"]);
  tree.erase("listeners");
  tree.erase("pools");
  CHECK(tree == Tree::parse(R"({"sessions":3,"access_log_dropped":7,"open_fds":40})"));
}

TEST_CASE("a listener's sessions that have ended are counted by reason and all together") {
  Snapshot::Listener listener;
  CHECK(listener.closed_total() == 0);
  listener.closed[static_cast<std::size_t>(CloseReason::client_closed)] = 5;
  listener.closed[static_cast<std::size_t>(CloseReason::shutdown)] = 6;
  CHECK(listener.closed_as(CloseReason::shutdown) == 6);
  CHECK(listener.closed_total() == 11);
}

TEST_CASE("parts of a snapshot are found by name, and a name that is not there is said") {
  const Snapshot snapshot = made_snapshot();
  CHECK(snapshot.listener("orders").closed_as(CloseReason::client_closed) == 5);
  CHECK(snapshot.pool("orders").active == 4);
  CHECK(snapshot.backend("orders", "pg-b").priority == 1);
  CHECK_THROWS_AS(static_cast<void>(snapshot.listener("other")), std::out_of_range);
  CHECK_THROWS_AS(static_cast<void>(snapshot.backend("orders", "c")), std::out_of_range);
}
