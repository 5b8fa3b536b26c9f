#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/lineage.h"
#include "tests/e2e/port.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/e2e/traffic.h"
#include "tests/upgrade/successor.h"

// An upgrade that does not come about: the old process goes on, and says why.
namespace weir::e2e {
namespace {

std::string yaml(const Port& port, const Service& service, int workers = 2) {
  return Setup{.workers = workers, .bind = {port.on()}, .backends = {service.address()}}.yaml();
}

// A weir with clients, one of them long, whose upgrades go wrong in ways of the test's.
struct Story {
  Story()
      : weir({.yaml = yaml(port, service, 4), .program = {.path = program.path()}}),
        session(Stream::connect(port.address())),
        traffic(port.address(), 2) {
    ask(session);
    traffic.wait_for_served(20);
  }

  void goes_wrong(const std::string& why, At at = At::here()) {
    weir.upgrade_in_vain("upgrade: failed, this process goes on: " + why, at);
    ask(session, at);
    traffic.wait_for_served(20, at);
  }

  // Afterwards everything is as it was, and an upgrade with a good program works.
  void ends_well(At at = At::here()) {
    const std::size_t descriptors = weir.first.program.descriptors();
    CHECK(descriptors < 200);
    program.be_weir();
    weir.upgrade(at);
    ask(session, at);
    traffic.wait_for_served(20, at);
    const Traffic::Tally tally = traffic.stop();
    CHECK(tally.ended == 0);
    CHECK(tally.reset == 0);
    session.close();
    weir.shut_down(at);
  }

  Service service;
  const Port port;
  ProgramPath program;
  Lineage weir;
  Stream session;
  Traffic traffic;
};

TEST_CASE("upgrade: a new program that exits at once is told of, and the old one goes on") {
  Story story;
  story.program.be_script("#!/bin/sh\nexit 3\n");
  for (int i = 0; i < 3; ++i) story.goes_wrong("it ");
  CHECK(count_of(story.weir.errors(), "exit code 3") == 3);
  story.ends_well();
}

TEST_CASE("upgrade: a program that is not there, or may not be run, is told of") {
  Story story;
  story.program.be_nothing();
  story.goes_wrong("cannot start " + story.program.path() + ": No such file");
  story.program.be_script("no program at all\n");
  std::filesystem::permissions(story.program.path(), std::filesystem::perms::owner_read);
  story.goes_wrong("cannot start " + story.program.path() + ": Permission denied");
  story.ends_well();
}

TEST_CASE("upgrade: a new program that hangs is given up after a while") {
  Story story;
  story.program.be_script("#!/bin/sh\nexec sleep 300\n");
  story.goes_wrong("it was not ready in time");
  story.ends_well();
}

TEST_CASE("upgrade: a new program that is killed before it is ready") {
  Story story;
  story.program.be_script("#!/bin/sh\nkill -KILL $$\n");
  story.goes_wrong("it ");
  CHECK(count_of(story.weir.errors(), "signal 9") == 1);
  story.ends_well();
}

TEST_CASE("upgrade: a bad configuration keeps the old process, with the errors in the log") {
  Story story;
  const std::string good = read_file(story.weir.first.config_file());
  write_file(story.weir.first.config_file(), good + "nonsense: 1\n");
  story.goes_wrong("it cannot take over: its configuration is invalid");
  CHECK(count_of(story.weir.errors(), "nonsense: ") == 1);
  const Backend taken;
  write_file(story.weir.first.config_file(),
             good + fmt::format("http: {{listen: \"{}\"}}\n", taken.address()));
  story.goes_wrong("it cannot take over: http.listen: " + taken.address());
  write_file(story.weir.first.config_file(), good);
  story.ends_well();
}

TEST_CASE(
    "upgrade: a new program that says it is ready and then ends leaves the old one to serve") {
  Story story;
  story.program.be_script(successor("say_ready(); os._exit(7)"));
  story.goes_wrong("it ");
  CHECK(count_of(story.weir.errors(), "exit code 7") == 1);
  story.program.be_script(successor("say_ready(); hear(); os.kill(os.getpid(), 9)"));
  story.goes_wrong("it ");
  CHECK(count_of(story.weir.errors(), "signal 9") == 1);
  story.ends_well();
}

TEST_CASE("upgrade: a new program that hangs when everything is its own is given up too") {
  Story story;
  story.program.be_script(successor("say_ready(); hear(); time.sleep(300)"));
  // Whoever comes meanwhile waits in an accept queue, and is served in the end.
  story.weir.upgrade_in_vain("it did not begin to serve in time");
  ask(story.session);
  story.ends_well();
}

TEST_CASE("upgrade: a new program that turns out not to be able to serve has not taken over") {
  Story story;
  story.program.be_script(
      successor("say_ready(); hear(); say({'failure': 'no threads', 'adopted': []}); hear()"));
  story.goes_wrong("it cannot serve: no threads");
  story.ends_well();
}

TEST_CASE("upgrade: after a failed one a process that drains since before is heard as ever") {
  Service service;
  const Port port;
  ProgramPath program;
  Lineage weir({.yaml = yaml(port, service), .program = {.path = program.path()}});
  std::vector<Stream> sessions;
  for (int i = 0; i < 2; ++i) {
    sessions.push_back(Stream::connect(port.address()));
    ask(sessions.back());
  }
  const pid_t drains = weir.serving();
  weir.upgrade();
  program.be_script(successor("say_ready(); hear(); os._exit(7)"));
  weir.upgrade_in_vain("upgrade: failed, this process goes on");
  CHECK(weir.json("GET /v1/sessions")["sessions"].items.size() == 2);
  const auto active = [&](std::uint64_t count) {
    weir.wait_until("GET /v1/pools/servers", [count](const Json& pool) {
      return pool["admission"]["active"].count() == count;
    });
  };
  sessions.pop_back();  // it tells of that by itself
  active(1);
  sessions.clear();
  active(0);
  CHECK(weir.wait_for_exit(drains) == 0);
  weir.wait_for_error_text("a process before this one has ended");
}

TEST_CASE("upgrade: nonsense from the new program is a failure of the upgrade") {
  Story story;
  story.program.be_script(successor("channel.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n'); hear()"));
  story.goes_wrong("it ");
  story.program.be_script(successor("say(['ready']); hear()"));
  story.goes_wrong("it makes no sense");
  story.program.be_script(successor("say_ready(); hear(); say('serves?'); hear()"));
  story.goes_wrong("it makes no sense");
  story.ends_well();
}

}  // namespace
}  // namespace weir::e2e
