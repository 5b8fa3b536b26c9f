#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// For an operator the processes of one weir are one: the new one speaks for all of them.
namespace weir::e2e {
namespace {

struct Story {
  Story()
      : weir({.yaml = Setup{.workers = 2, .bind = {port.on()}, .backends = addresses_of(backends)}
                          .yaml()}) {}

  void sessions(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      streams.push_back(Stream::connect(port.address()));
      ask(streams.back());
    }
  }
  std::vector<std::uint64_t> ids() const {
    std::vector<std::uint64_t> ids;
    const Json answer = weir.json("GET /v1/sessions");
    for (const Json& each : answer["sessions"].items) {
      ids.push_back(each["id"].count());
    }
    return ids;
  }

  const std::vector<std::unique_ptr<Service>> backends = services(2);
  const Port port;
  Lineage weir;
  std::vector<Stream> streams;
};

TEST_CASE("upgrade: sessions of all processes are listed, each with an id of its own") {
  Story story;
  story.sessions(3);
  const std::vector<std::uint64_t> first = story.ids();
  for (std::size_t round = 1; round < 3; ++round) {
    story.weir.upgrade();
    story.sessions(2);
    const std::vector<std::uint64_t> now = story.ids();
    CHECK(now.size() == 3 + 2 * round);
    CHECK(std::is_sorted(now.begin(), now.end()));
    CHECK(std::adjacent_find(now.begin(), now.end()) == now.end());
    CHECK(std::equal(first.begin(), first.end(), now.begin()));
    for (const std::uint64_t id : now) {
      CHECK(story.weir.json(fmt::format("GET /v1/sessions/{}", id))["id"].count() == id);
    }
  }
  CHECK(story.weir.json("GET /v1/status")["sessions"].count() == 7);
  CHECK(story.weir.json("GET /v1/sessions?limit=4")["sessions"].items.size() == 4);
  const Json shown = story.weir.json(fmt::format("GET /v1/sessions/{}", first[0]));
  CHECK(shown["id"].count() == first[0]);
  CHECK(shown["bytes_in"].count() > 0);
  story.streams.clear();
  story.weir.wait_until("GET /v1/status",
                        [](const Json& status) { return status["sessions"].count() == 0; });
  story.weir.shut_down();
}

TEST_CASE("upgrade: a session of the old process is ended by its id through the new one") {
  Story story;
  story.sessions(1);
  const std::uint64_t id = story.ids().at(0);
  story.weir.upgrade();
  story.sessions(1);
  story.weir.upgrade();
  const std::string killed = story.weir.admin(fmt::format("DELETE /v1/sessions/{}", id));
  CHECK(JsonReader::read(killed)["closed"].count() == 1);
  CHECK(story.streams[0].expect_ending() == Ending::end);
  ask(story.streams[1]);
  story.weir.wait_until("GET /v1/pools/servers",
                        [](const Json& pool) { return pool["admission"]["active"].count() == 1; });
  CHECK(story.weir.first.log(1)[0].reason == "killed");
  story.streams.clear();
  story.weir.shut_down();
}

TEST_CASE("upgrade: sessions on a backend are ended in all processes") {
  Story story;
  story.sessions(2);
  story.weir.upgrade();
  story.sessions(2);
  const Json killed = JsonReader::read(story.weir.admin("DELETE /v1/sessions?backend=servers/b1"));
  CHECK(killed["closed"].count() == 2);
  const auto ended = [&] {
    return std::count_if(story.streams.begin(), story.streams.end(),
                         [](const Stream& each) { return each.has_ended(); });
  };
  for (const auto until = Clock::now() + patience(); ended() < 2 && Clock::now() < until;) {
    silence(1ms);
  }
  CHECK(ended() == 2);
  story.weir.wait_until("GET /v1/pools/servers",
                        [](const Json& pool) { return pool["admission"]["active"].count() == 2; });
  story.streams.clear();
  story.weir.shut_down();
}

TEST_CASE("upgrade: gauges of the metrics are those of all, and totals never fall") {
  Story story;
  story.sessions(3);
  const auto accepted = [&] {
    return story.weir.metric(R"(weir_listener_accepted_total{listener="front"})");
  };
  const auto bytes = [&] {
    return story.weir.metric(R"(weir_bytes_total{listener="front",direction="in"})");
  };
  const auto dials = [&] {
    return story.weir.metric(R"(weir_dials_total{pool="servers",outcome="connected"})");
  };
  const auto active = [&] {
    return story.weir.metric(R"(weir_pool_active_requests{pool="servers"})");
  };
  double bytes_before = bytes();
  for (std::size_t round = 1; round < 4; ++round) {
    story.weir.upgrade();
    CHECK(accepted() == 3 + 2.0 * static_cast<double>(round - 1));
    story.sessions(2);
    CHECK(active() == 3 + 2.0 * static_cast<double>(round));
    CHECK(accepted() == 3 + 2.0 * static_cast<double>(round));
    CHECK(dials() == 3 + 2.0 * static_cast<double>(round));
    CHECK(bytes() >= bytes_before);
    bytes_before = bytes();
  }
  // The first two processes end, in the order in which they came; what they counted stays.
  story.streams.erase(story.streams.begin(), story.streams.begin() + 5);
  story.weir.wait_until("GET /v1/status",
                        [](const Json& status) { return status["sessions"].count() == 4; });
  CHECK(accepted() == 9);
  CHECK(active() == 4);
  story.weir.wait_for_error_text("a process before this one has ended", 2);
  CHECK(accepted() == 9);
  CHECK(dials() == 9);
  CHECK(bytes() >= bytes_before);
  story.weir.upgrade();
  CHECK(accepted() == 9);
  CHECK(bytes() >= bytes_before);
  story.streams.clear();
  story.weir.wait_until("GET /v1/status",
                        [](const Json& status) { return status["sessions"].count() == 0; });
  CHECK(story.weir.metric(
            R"(weir_sessions_closed_total{listener="front",reason="client_closed"})") == 9);
  story.weir.shut_down();
}

TEST_CASE("upgrade: the journal goes on, and says what became of the upgrade") {
  Story story;
  story.weir.admin("POST /v1/pools/servers/backends/b1/disable");
  story.weir.upgrade();
  const Json before = story.weir.json("GET /v1/events?since=0");
  CHECK(before["events"].items.front()["kind"].text == "disable");
  CHECK(before["events"].items.front()["seq"].count() == 1);
  CHECK(before["events"].items.back()["kind"].text == "upgrade");
  for (std::size_t i = 0; i < before["events"].items.size(); ++i) {
    CHECK(before["events"].items[i]["seq"].count() == i + 1);
  }
  CHECK(story.weir.json("GET /v1/status")["config_generation"].count() == 2);
  story.weir.shut_down();
}

}  // namespace
}  // namespace weir::e2e
