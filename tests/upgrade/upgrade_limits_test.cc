#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <future>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/upgrade/successor.h"

// A limit is one limit, however many processes have sessions under it.
namespace weir::e2e {
namespace {

std::uint64_t pending(const Lineage& weir) {
  return weir.json("GET /v1/pools/servers")["admission"]["pending"].count();
}

void wait_for_pending(const Lineage& weir, std::uint64_t count, At at = At::here()) {
  weir.wait_until(
      "GET /v1/pools/servers",
      [count](const Json& pool) { return pool["admission"]["pending"].count() == count; }, at);
}

// Sessions of all lengths come and go on many threads; whoever is not served is a failure.
class Crowd {
 public:
  Crowd(const net::SocketAddress& to, std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.push_back(meanwhile([this, to, i] {
        for (std::size_t round = i; !stopped_; ++round) {
          Stream client = Stream::connect(to);
          for (std::size_t asked = 0; asked <= round % 20; ++asked) {
            ask(client);
            ++asked_;
            if (asked > 0) silence(1ms);
          }
          client.shutdown_write();
          client.expect_end();
        }
      }));
    }
  }
  ~Crowd() { stopped_ = true; }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void go_on(std::size_t more, At at = At::here()) const {
    const std::size_t wanted = asked_ + more;
    for (const auto until = Clock::now() + patience(); asked_ < wanted; silence(1ms)) {
      if (Clock::now() >= until) throw ScriptFailure("clients are not served", at);
    }
  }
  void stop() {
    stopped_ = true;
    for (auto& each : threads_) each.get();
  }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<std::size_t> asked_{0};
  std::vector<std::future<void>> threads_;
};

TEST_CASE(
    "upgrade: under load a backend never has more than its limit, nor the pool, and all are "
    "served") {
  constexpr std::size_t kOfOne = 4;
  constexpr std::size_t kOfAll = 7;
  const auto backends = services(2);
  const Port port;
  Lineage weir({.yaml = Setup{.workers = 4,
                              .bind = {port.on()},
                              .resilience =
                                  fmt::format("max_active_requests: {}, max_pending_requests: 100, "
                                              "max_active_per_backend: {}",
                                              kOfAll, kOfOne),
                              .backends = addresses_of(backends)}
                            .yaml()});
  Crowd crowd(port.address(), 16);
  crowd.go_on(100);
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    crowd.go_on(200);
  }
  crowd.stop();
  for (const auto& backend : backends) {
    CHECK(backend->peak() <= kOfOne);
    CHECK(backend->peak() >= kOfOne - 1);
  }
  weir.shut_down();
}

TEST_CASE("upgrade: a backend alone, at its limit before, between and after two upgrades") {
  constexpr std::size_t kMost = 5;
  Service backend;
  const Port port;
  Lineage weir({.yaml = Setup{.workers = 2,
                              .bind = {port.on()},
                              .resilience = fmt::format(
                                  "max_active_requests: {0}, max_pending_requests: 100, "
                                  "max_active_per_backend: {0}",
                                  kMost),
                              .backends = {backend.address()}}
                            .yaml()});
  Crowd crowd(port.address(), 12);
  crowd.go_on(50);
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    crowd.go_on(100);
  }
  crowd.stop();
  CHECK(backend.peak() == kMost);
  weir.shut_down();
}

TEST_CASE("upgrade: sessions of the old process take up the limits of the new one") {
  Service service;
  const Port port;
  Lineage weir({.yaml = Setup{.workers = 2,
                              .bind = {port.on()},
                              .resilience = "max_active_requests: 3",
                              .backends = {service.address()}}
                            .yaml()});
  std::vector<Stream> old;
  for (int i = 0; i < 2; ++i) {
    old.push_back(Stream::connect(port.address()));
    ask(old.back());
  }
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    Stream third = Stream::connect(port.address());
    ask(third);
    Stream fourth = Stream::connect(port.address());
    CHECK(!fourth.hear_if_anything("?"));
    third.close();
    weir.wait_until("GET /v1/pools/servers",
                    [](const Json& pool) { return pool["admission"]["active"].count() == 2; });
  }
  old.pop_back();
  weir.wait_until("GET /v1/pools/servers",
                  [](const Json& pool) { return pool["admission"]["active"].count() == 1; });
  for (int i = 0; i < 2; ++i) {
    old.push_back(Stream::connect(port.address()));
    ask(old.back());
  }
  old.clear();
  weir.shut_down();
}

TEST_CASE("upgrade: who waits in the old process is served there, in order, when a session ends") {
  Service service;
  const Port port;
  Lineage weir({.yaml = Setup{.workers = 1,
                              .bind = {port.on()},
                              .resilience = "max_active_requests: 1, max_pending_requests: 10, "
                                            "max_active_per_backend: 1",
                              .backends = {service.address()}}
                            .yaml()});
  Stream running = Stream::connect(port.address());
  ask(running);
  std::vector<Stream> waiting;
  for (std::uint64_t i = 0; i < 3; ++i) {
    waiting.push_back(Stream::connect(port.address()));
    waiting.back().say("q");
    wait_for_pending(weir, i + 1);
  }
  const pid_t old = weir.serving();
  weir.upgrade();
  Stream newcomer = Stream::connect(port.address());
  newcomer.say("q");
  wait_for_pending(weir, 4);
  running.close();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    waiting[i].hear("q");
    if (i + 1 < waiting.size()) CHECK(waiting[i + 1].unread() == 0);
    CHECK(newcomer.unread() == 0);
    waiting[i].close();
  }
  newcomer.hear("q");
  CHECK(weir.wait_for_exit(old) == 0);
  CHECK(pending(weir) == 0);
  CHECK(service.peak() == 1);
  newcomer.close();
  weir.shut_down();
}

// The first process has the places, the second has who waits for them.
TEST_CASE("upgrade: who waits in the second process gets the places that the first leaves") {
  Service service;
  const Port port;
  Lineage weir({.yaml = Setup{.workers = 1,
                              .bind = {port.on()},
                              .resilience = "max_active_requests: 1, max_pending_requests: 10, "
                                            "max_active_per_backend: 1",
                              .backends = {service.address()}}
                            .yaml()});
  Stream running = Stream::connect(port.address());
  ask(running);
  weir.upgrade();
  Stream waiting = Stream::connect(port.address());
  waiting.say("q");
  wait_for_pending(weir, 1);
  weir.upgrade();
  Stream newcomer = Stream::connect(port.address());
  newcomer.say("q");
  wait_for_pending(weir, 2);
  running.close();
  waiting.hear("q");
  CHECK(newcomer.unread() == 0);
  waiting.close();
  newcomer.hear("q");
  newcomer.close();
  CHECK(service.peak() == 1);
  weir.shut_down();
}

// The old process had promised the new one not to have more there than it had.
TEST_CASE("upgrade: after a failed one a backend that a reload has removed may have more again") {
  const auto backends = services(2);
  const Port port;
  const auto yaml = [&](const std::vector<std::string>& addresses) {
    return "admin: {socket: admin.sock}\nlog: {access: \"access.log\"}\n" +
           Setup{.workers = 2,
                 .bind = {port.on()},
                 .resilience = "max_active_per_backend: 10",
                 .backends = addresses}
               .yaml();
  };
  ProgramPath program;
  Lineage weir({.yaml = Setup{.workers = 2,
                              .bind = {port.on()},
                              .resilience = "max_active_per_backend: 10",
                              .backends = addresses_of(backends)}
                            .yaml(),
                .program = {.path = program.path()}});
  std::vector<Stream> sessions;
  for (int i = 0; i < 2; ++i) {
    sessions.push_back(Stream::connect(port.address()));
    ask(sessions.back());
  }
  REQUIRE(backends[1]->accepted() == 1);
  write_file(weir.first.config_file(), yaml({backends[0]->address()}));
  weir.admin("POST /v1/reload");
  program.be_script(successor("say_ready(); hear(); os._exit(7)"));
  weir.upgrade_in_vain("upgrade: failed, this process goes on");
  write_file(weir.first.config_file(), yaml(addresses_of(backends)));
  weir.admin("POST /v1/reload");
  for (int i = 0; i < 4; ++i) {
    sessions.push_back(Stream::connect(port.address()));
    ask(sessions.back());
  }
  CHECK(backends[0]->accepted() == 3);
  CHECK(backends[1]->accepted() == 3);
  sessions.clear();
  weir.shut_down();
}

}  // namespace
}  // namespace weir::e2e
