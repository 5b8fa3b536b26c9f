#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// A process that drains and is stopped for a while has not gone: what it has is still there.
namespace weir::e2e {
namespace {

constexpr const char* kSilent = "a process that drains does not answer";

struct Story {
  explicit Story(const std::string& more_pools = {})
      : weir({.yaml = Setup{.workers = 2,
                            .bind = {port.on()},
                            .resilience = "max_active_requests: 10, max_active_per_backend: 3",
                            .backends = {service.address()}}
                          .yaml() +
                      more_pools}) {
    for (int i = 0; i < 2; ++i) {
      sessions.push_back(Stream::connect(port.address()));
      ask(sessions.back());
    }
    old = weir.serving();
    id = weir.json("GET /v1/sessions")["sessions"].items.at(0)["id"].count();
    weir.upgrade();
    weir.wait_for_error_text("took over");
    weir.stop(old);
  }

  std::size_t shown() const { return weir.json("GET /v1/sessions")["sessions"].items.size(); }

  // There is one place at the backend, and no other.
  void has_room_for_one(At at = At::here()) const {
    Stream third = Stream::connect(port.address(), {}, at);
    ask(third, at);
    Stream fourth = Stream::connect(port.address(), {}, at);
    CHECK(!fourth.hear_if_anything("?", at));
    third.close();
    weir.wait_until(
        "GET /v1/pools/servers",
        [](const Json& pool) { return pool["admission"]["active"].count() == 2; }, at);
  }

  Service service;
  const Port port;
  Lineage weir;
  std::vector<Stream> sessions;
  pid_t old = 0;
  std::uint64_t id = 0;
};

TEST_CASE("upgrade: sessions of a process that is stopped count, and are shown when it goes on") {
  Story story;
  CHECK(story.shown() == 0);
  const Stopwatch since;
  for (int i = 0; i < 20; ++i) CHECK(story.shown() == 0);
  CHECK(story.weir.json("GET /v1/status")["sessions"].count() == 2);
  CHECK(since.elapsed() < at_most(100ms));  // it has been given up once, not for each question
  CHECK(count_of(story.weir.errors(), kSilent) == 1);
  story.has_room_for_one();
  story.weir.signal(story.old, SIGCONT);
  story.weir.wait_until("GET /v1/sessions",
                        [](const Json& all) { return all["sessions"].items.size() == 2; });
  for (Stream& session : story.sessions) ask(session);
  story.has_room_for_one();
  const std::string killed = story.weir.admin(fmt::format("DELETE /v1/sessions/{}", story.id));
  CHECK(JsonReader::read(killed)["closed"].count() == 1);
  story.weir.wait_until("GET /v1/pools/servers",
                        [](const Json& pool) { return pool["admission"]["active"].count() == 1; });
  CHECK(count_of(story.weir.errors(), "a process before this one has ended") == 0);
  story.sessions.clear();
  CHECK(story.weir.wait_for_exit(story.old) == 0);
  story.weir.shut_down();
}

TEST_CASE("upgrade: an order that a stopped process does not hear is carried out when it goes on") {
  Story story;
  CHECK(story.shown() == 0);
  story.weir.admin("DELETE /v1/sessions?backend=servers/b1");
  for (Stream& session : story.sessions) CHECK(!session.has_ended());
  story.weir.signal(story.old, SIGCONT);
  for (Stream& session : story.sessions) session.expect_ending();
  CHECK(story.weir.wait_for_exit(story.old) == 0);
  CHECK(story.weir.first.log(2)[0].reason == "killed");
  story.weir.shut_down();
}

TEST_CASE("upgrade: a stopped process is handed on to a further one, with what it has") {
  Story story;
  CHECK(story.shown() == 0);
  story.weir.upgrade();
  story.weir.wait_for_error_text("took over", 2);
  CHECK(story.shown() == 0);
  story.has_room_for_one();
  story.weir.signal(story.old, SIGCONT);
  story.weir.wait_until("GET /v1/sessions",
                        [](const Json& all) { return all["sessions"].items.size() == 2; });
  story.sessions.clear();
  CHECK(story.weir.wait_for_exit(story.old) == 0);
  story.weir.shut_down();
}

TEST_CASE("upgrade: a stopped process that is killed has gone, and its places are free") {
  Story story;
  CHECK(story.shown() == 0);
  story.weir.signal(story.old, SIGKILL);
  story.weir.wait_for_error_text("a process before this one has ended");
  std::vector<Stream> sessions;
  for (int i = 0; i < 3; ++i) {
    sessions.push_back(Stream::connect(story.port.address()));
    ask(sessions.back());
  }
}

// It has much to say, and nobody hears it.
TEST_CASE("upgrade: a new process that was stopped finds what the one that drains has") {
  std::string pools;
  for (int i = 0; i < 250; ++i) {
    pools +=
        fmt::format("  - {{name: p{}, backends: [{{name: b, address: \"127.0.0.1:1\"}}]}}\n", i);
  }
  Story story(pools);
  story.weir.signal(story.old, SIGCONT);
  story.weir.wait_until("GET /v1/sessions",
                        [](const Json& all) { return all["sessions"].items.size() == 2; });
  const pid_t now = story.weir.serving();
  story.weir.stop(now);
  // It tells all of its counts every second, and the channel holds two seconds' worth.
  silence(6s);
  story.weir.signal(now, SIGCONT);
  story.weir.wait_until("GET /v1/sessions",
                        [](const Json& all) { return all["sessions"].items.size() == 2; });
  story.has_room_for_one();
  CHECK(count_of(story.weir.errors(), "a process before this one has ended") == 0);
}

}  // namespace
}  // namespace weir::e2e
