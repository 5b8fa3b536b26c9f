#include "weir/net/journal.h"

#include <doctest/doctest.h>

#include <string>

#include "weir/net/steady_clock.h"

using namespace weir;
using namespace weir::net;
using namespace std::chrono_literals;

TEST_CASE("the journal numbers its events from 1 and answers those after a number") {
  Journal journal;
  CHECK(journal.last() == 0);
  journal.add(EventKind::circuit, "orders", "a", "open", "consecutive_failures");
  journal.add(EventKind::reload, "", "", "done", "SIGHUP");
  REQUIRE(journal.since(0).size() == 2);
  CHECK(journal.since(0)[0].seq == 1);
  CHECK(journal.since(0)[0].backend == "a");
  REQUIRE(journal.since(1).size() == 1);
  CHECK(journal.since(1)[0].kind == EventKind::reload);
  CHECK(journal.since(2).empty());
  CHECK(journal.last() == 2);
}

TEST_CASE("a full journal forgets the oldest event and goes on counting") {
  Journal journal;
  for (std::size_t i = 0; i < Journal::kKept + 5; ++i) {
    journal.add(EventKind::kill, "", "", std::to_string(i), "");
  }
  const auto kept = journal.since(0);
  CHECK(kept.size() == Journal::kKept);
  CHECK(kept.front().seq == 6);
  CHECK(kept.back().to == std::to_string(Journal::kKept + 4));
}

TEST_CASE("an event of a moment gone by bears the time of day of that moment") {
  Journal journal;
  const WallTime before = wall_now();
  journal.add(EventKind::circuit, "p", "b", "open", "half_open_expired", steady_now() - 60s);
  const WallTime at = journal.since(0)[0].at;
  CHECK(at >= before - 61s);
  CHECK(at <= wall_now() - 59s);
}

TEST_CASE("a journal takes up the events of another, and counts on from there") {
  Journal before;
  for (int i = 0; i < 3; ++i) before.add(EventKind::kill, "orders", "", std::to_string(i), "x");
  Journal journal;
  journal.restore(before.since(1));
  CHECK(journal.last() == 3);
  journal.add(EventKind::upgrade, "", "", "done", "");
  const auto events = journal.since(0);
  REQUIRE(events.size() == 3);
  CHECK(events[0].seq == 2);
  CHECK(events[0].to == "1");
  CHECK(events[0].at == before.since(1)[0].at);
  CHECK(events[2].seq == 4);
  CHECK(events[2].kind == EventKind::upgrade);
}

TEST_CASE("a journal that takes up nothing begins with 1") {
  Journal journal;
  journal.restore({});
  journal.add(EventKind::reload, "", "", "done", "");
  CHECK(journal.last() == 1);
}
