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

// SIGUSR2: another program takes the place of the one that runs, and no client notices.
namespace weir::e2e {
namespace {

std::string yaml(const Port& port, const Service& service, int workers = 2) {
  return Setup{.workers = workers, .bind = {port.on()}, .backends = {service.address()}}.yaml();
}

TEST_CASE("upgrade: clients come without pause, and none is refused, reset or ended") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml(port, service, 4)});
  Traffic traffic(port.address(), 4);
  traffic.wait_for_served(50);
  for (int round = 0; round < 2; ++round) {
    weir.upgrade();
    traffic.wait_for_served(50);
  }
  const Traffic::Tally tally = traffic.stop();
  CHECK(tally.ended == 0);
  CHECK(tally.reset == 0);
  weir.shut_down();
}

TEST_CASE("upgrade: long sessions of the first process live through two upgrades") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml(port, service)});
  std::vector<Stream> sessions;
  std::vector<pid_t> processes{weir.serving()};
  for (int generation = 0; generation < 3; ++generation) {
    if (generation > 0) processes.push_back(weir.upgrade());
    for (int i = 0; i < 5; ++i) sessions.push_back(Stream::connect(port.address()));
    for (Stream& session : sessions) ask(session);
  }
  for (const pid_t process : processes) CHECK(weir.running(process));
  for (int i = 0; i < 3; ++i) {
    for (Stream& session : sessions) ask(session);
  }
  // Those of the second are left.
  sessions.erase(sessions.begin() + 10, sessions.end());
  sessions.erase(sessions.begin(), sessions.begin() + 5);
  CHECK(weir.wait_for_exit(processes[0]) == 0);
  for (Stream& session : sessions) ask(session);
  CHECK(weir.running(processes[1]));
  sessions.clear();
  weir.shut_down();
  weir.first.log(15);
}

TEST_CASE("upgrade: the old process drains within its deadline and cuts off what is left") {
  Service service;
  const Port port;
  Lineage weir({.yaml = "shutdown: {deadline: " + scaled_ms(300ms) + "}\n" + yaml(port, service)});
  Stream session = Stream::connect(port.address());
  ask(session);
  const pid_t old = weir.serving();
  const Stopwatch since;
  weir.upgrade();
  session.expect_reset();
  since.expect_between(scaled(300ms), scaled(300ms) + 500ms);
  CHECK(weir.wait_for_exit(old) == 0);
  Stream another = Stream::connect(port.address());
  ask(another);
  another.close();
  weir.shut_down();
}

TEST_CASE("upgrade: a program whose file was replaced is followed by the new file") {
  Service service;
  const Port port;
  ProgramPath program;
  program.be_copy();
  Lineage weir({.yaml = yaml(port, service), .program = {.path = program.path()}});
  program.be_copy();
  const auto file_of = [](pid_t process) {
    return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process)).string();
  };
  CHECK(file_of(weir.serving()) == program.path() + " (deleted)");
  CHECK(file_of(weir.upgrade()) == program.path());
  Stream client = Stream::connect(port.address());
  ask(client);
  client.close();
  weir.shut_down();
}

TEST_CASE("upgrade: SIGTERM to the old process while it drains is the first signal of a drain") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml(port, service)});
  Stream session = Stream::connect(port.address());
  ask(session);
  const pid_t old = weir.serving();
  weir.upgrade();
  weir.signal(old, SIGTERM);
  weir.wait_until("GET /v1/status",
                  [](const Json& status) { return status["sessions"].count() == 1; });
  ask(session);
  CHECK(weir.running(old));
  session.close();
  CHECK(weir.wait_for_exit(old) == 0);
  Stream another = Stream::connect(port.address());
  ask(another);
  another.close();
  weir.shut_down();
}

TEST_CASE("upgrade: a second SIGTERM ends the old process at once, and the new one serves") {
  Service service;
  const Port port;
  Lineage weir({.yaml = yaml(port, service)});
  Stream session = Stream::connect(port.address());
  ask(session);
  const pid_t old = weir.serving();
  const pid_t now = weir.upgrade();
  weir.signal(old, SIGTERM);
  weir.signal(old, SIGINT);
  CHECK(weir.wait_for_exit(old) == 1);
  CHECK(weir.serving() == now);
  weir.wait_until("GET /v1/status",
                  [](const Json& status) { return status["sessions"].count() == 0; });
}

// A new program that begins when the test has it so.
struct Gated {
  explicit Gated(const std::string& then = fmt::format("exec {} \"$@\"", WEIR_BINARY)) {
    program.be_script(fmt::format("#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.01; done\n{}\n",
                                  gate.file("open"), then));
  }
  void open() const { write_file(gate.file("open"), ""); }

  const Folder gate;
  ProgramPath program;
};

std::uint64_t generation(const Lineage& weir) {
  return weir.json("GET /v1/status")["config_generation"].count();
}

TEST_CASE("upgrade: told again while one is under way, weir refuses and goes on with the first") {
  Service service;
  const Port port;
  ProgramPath program;
  Lineage weir({.yaml = yaml(port, service), .program = {.path = program.path()}});
  const Gated gated;
  std::filesystem::rename(gated.program.path(), program.path());
  const pid_t first = weir.serving();
  weir.signal(first, SIGUSR2);
  weir.wait_for_error_text("upgrade: started");
  weir.signal(first, SIGUSR2);
  weir.wait_for_error_text("refused: one is under way");
  gated.open();
  weir.wait_for_error_text("serves");
  CHECK(count_of(weir.errors(), "upgrade: started") == 1);
  program.be_weir();
  weir.upgrade();
  weir.signal(weir.serving(), SIGTERM);
  CHECK(weir.wait_for_exit(first) == 0);
}

TEST_CASE("upgrade: a reload that is asked for meanwhile is carried out by the new process") {
  Service service;
  const Port port;
  ProgramPath program;
  Lineage weir({.yaml = yaml(port, service), .program = {.path = program.path()}});
  const Gated gated;
  std::filesystem::rename(gated.program.path(), program.path());
  const pid_t old = weir.serving();
  weir.signal(old, SIGUSR2);
  weir.wait_for_error_text("upgrade: started");
  weir.signal(old, SIGHUP);
  CHECK_THROWS_AS(weir.admin("POST /v1/reload"), ScriptFailure);
  CHECK(count_of(weir.errors(), "an upgrade is under way") == 1);
  CHECK(generation(weir) == 1);
  gated.open();
  weir.wait_until("GET /v1/status",
                  [](const Json& status) { return status["config_generation"].count() == 3; });
  CHECK(weir.serving() != old);
  weir.wait_for_error_text("generation 3 is in force (SIGHUP; 0 changes)");
  CHECK(weir.wait_for_exit(old) == 0);
}

TEST_CASE(
    "upgrade: a reload that is asked for meanwhile is the old process's when none comes of it") {
  Service service;
  const Port port;
  ProgramPath program;
  Lineage weir({.yaml = yaml(port, service), .program = {.path = program.path()}});
  const Gated gated("exit 1");
  std::filesystem::rename(gated.program.path(), program.path());
  const pid_t old = weir.serving();
  weir.signal(old, SIGUSR2);
  weir.wait_for_error_text("upgrade: started");
  weir.signal(old, SIGHUP);
  gated.open();
  weir.wait_until("GET /v1/status",
                  [](const Json& status) { return status["config_generation"].count() == 2; });
  CHECK(weir.serving() == old);
  weir.shut_down();
}

TEST_CASE("upgrade: SIGTERM while it is under way ends it, and then weir") {
  Service service;
  const Port port;
  ProgramPath program;
  Lineage weir({.yaml = yaml(port, service), .program = {.path = program.path()}});
  const Gated gated;
  std::filesystem::rename(gated.program.path(), program.path());
  Stream session = Stream::connect(port.address());
  ask(session);
  const pid_t old = weir.serving();
  weir.signal(old, SIGUSR2);
  weir.wait_for_error_text("upgrade: started");
  weir.signal(old, SIGTERM);
  weir.wait_for_error_text("weir is told to end");
  ask(session);
  session.close();
  gated.open();
  CHECK(weir.wait_for_exit(old) == 0);
  CHECK(count_of(weir.errors(), "took over") == 0);
  CHECK_THROWS_AS(Stream::connect(port.address()), ScriptFailure);
}

TEST_CASE("upgrade: process 1 of a container refuses, and says what to do instead") {
  Service service;
  const Port port;
  const Folder folder;
  if (std::system("unshare --fork --pid true >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: no process namespace may be made here");
    return;
  }
  // `--kill-child`: the end of unshare is the end of weir.
  ProgramPath program;
  program.be_script(
      fmt::format("#!/bin/sh\nexec unshare --fork --pid --kill-child {} \"$@\"\n", WEIR_BINARY));
  write_file(
      folder.file("weir.yaml"),
      fmt::format("admin: {{socket: admin.sock}}\nlog: {{access: off}}\n{}", yaml(port, service)));
  Program weir({.arguments = {"-c", folder.file("weir.yaml")}, .path = program.path()});
  weir.wait_for_error_text("sessions at once");
  const std::string children = read_file(fmt::format("/proc/{0}/task/{0}/children", weir.pid()));
  REQUIRE(!children.empty());
  const pid_t inside = std::stoi(children);
  for (const auto until = Clock::now() + patience(); Clock::now() < until; silence(1ms)) {
    try {
      Stream client = Stream::connect(port.address());
      ask(client);
      break;
    } catch (const ScriptFailure&) {
    }
  }
  ::kill(inside, SIGUSR2);
  weir.wait_for_error_text("refused: this is process 1 of its container");
  Stream client = Stream::connect(port.address());
  ask(client);
}

}  // namespace
}  // namespace weir::e2e
