#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

// The program as people and their scripts call it.
namespace weir::e2e {
namespace {

TEST_CASE("command: --version prints the name and the version, and no more") {
  const Ended ended = run_weir({"--version"});
  CHECK(ended.code == 0);
  CHECK(ended.output == fmt::format("weir {}\n", WEIR_VERSION));
  CHECK(ended.errors.empty());
}

TEST_CASE("command: --help names every option") {
  const Ended ended = run_weir({"--help"});
  CHECK(ended.code == 0);
  for (const char* option : {"-c", "--config", "--check", "--demo", "--quiet", "--version"}) {
    CHECK(count_of(ended.output, option) >= 1);
  }
  CHECK(ended.errors.empty());
}

TEST_CASE("command: wrong usage is told on stderr, with code 2") {
  const Folder folder;
  const std::vector<std::vector<std::string>> wrong{
      {},
      {"--no-such-option"},
      {"something"},
      {"-c"},
      {"-c", ""},
      {"--check"},
      {"--quiet"},
      {"-c", folder.file("weir.yaml"), "--demo"},
      {"-c", folder.file("missing.yaml"), "--check", "--unknown"},
  };
  for (const auto& arguments : wrong) {
    const Ended ended = run_weir(arguments);
    INFO(fmt::format("{}", arguments.empty() ? "no arguments" : arguments.front()));
    CHECK(ended.code == 2);
    CHECK(!ended.errors.empty());
    CHECK(ended.output.empty());
  }
}

TEST_CASE("command: a file that cannot be read is a wrong configuration, with code 2") {
  const Folder folder;
  const std::string missing = folder.file("missing.yaml");
  for (const std::string& file : {missing, folder.path()}) {
    for (const bool check : {false, true}) {
      std::vector<std::string> arguments{"-c", file};
      if (check) arguments.emplace_back("--check");
      const Ended ended = run_weir(arguments);
      CHECK(ended.code == 2);
      CHECK(ended.errors.starts_with(file + ":1:1: "));
      CHECK(ended.output.empty());
    }
  }
}

TEST_CASE("command: --check tells whether a file is good, and serves nothing") {
  const Folder folder;
  const Port port;
  const std::string good = folder.file("good.yaml");
  write_file(good, Setup{.bind = {port.on()}, .backends = {"127.0.0.1:1"}}.yaml());
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"-c", good, "--check"},
                                             {"--check", "--config", good},
                                             {"--config=" + good, "--check"}}) {
    const Ended ended = run_weir(arguments);
    CHECK(ended.code == 0);
    CHECK(ended.output == good + ": ok\n");
    CHECK(ended.errors.empty());
  }
}

TEST_CASE("command: a bad file is refused with every error and its place, checked or run") {
  const Folder folder;
  const std::string bad = folder.file("bad.yaml");
  write_file(bad, R"(workers: 0
listeners:
  - {name: front, bind: ["127.0.0.1:1"], pool: nobody}
pools:
  - name: servers
    timeouts: {connect: 5}
    backends: [{name: b1, address: "127.0.0.1:1"}]
    balnace: first
    resilience: {max_fails: 2}
)");
  for (const bool check : {false, true}) {
    std::vector<std::string> arguments{"-c", bad};
    if (check) arguments.emplace_back("--check");
    const Ended ended = run_weir(arguments);
    INFO(ended.errors);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK(count_of(ended.errors, "\n") == 4);
    CHECK(count_of(ended.errors, bad + ":1:10: workers: ") == 1);
    CHECK(count_of(ended.errors, bad + ":3:48: listeners[0].pool: ") == 1);
    CHECK(count_of(ended.errors, bad + ":6:25: pools[0].timeouts.connect: ") == 1);
    CHECK(count_of(ended.errors, bad + ":8:5: pools[0].balnace: ") == 1);
  }
}

TEST_CASE("command: what cannot be bound ends with code 1 and says which listener and address") {
  const Folder folder;
  const Port port;
  Backend taken;
  const std::string missing = folder.unix_socket("no/such/folder/front");
  // 192.0.2.0/24 is for documentation: its first address is nobody's here.
  for (const std::string& bind : {taken.address(), missing, port.on("192.0.2.1")}) {
    write_file(folder.file("weir.yaml"), Setup{.bind = {bind}, .backends = {"127.0.0.1:1"}}.yaml());
    const Ended ended = run_weir({"-c", folder.file("weir.yaml")});
    INFO(ended.errors);
    CHECK(ended.code == 1);
    CHECK(count_of(ended.errors, "listener front: " + bind) == 1);
    CHECK(ended.output.empty());
  }
}

TEST_CASE("command: an access log that cannot be opened ends with code 1") {
  const Folder folder;
  const Port port;
  write_file(folder.file("weir.yaml"),
             "log: {access: no/such/folder/access.log}\n" +
                 Setup{.bind = {port.on()}, .backends = {"127.0.0.1:1"}}.yaml());
  const Ended ended = run_weir({"-c", folder.file("weir.yaml")});
  CHECK(ended.code == 1);
  CHECK(count_of(ended.errors, folder.file("no/such/folder/access.log")) == 1);
}

// A signal that comes as soon as weir serves: scripts and supervisors are quick.
TEST_CASE("command: operators' signals do no harm from the first connect on") {
  Service service;
  for (int round = 0; round < 20; ++round) {
    const Folder folder;
    const Port port;
    write_file(
        folder.file("weir.yaml"),
        "log: {access: off}\n" +
            Setup{.workers = 4, .bind = {port.on()}, .backends = {service.address()}}.yaml());
    Program weir({.arguments = {"-c", folder.file("weir.yaml")}});
    const auto until = Clock::now() + patience();
    for (bool serves = false; !serves && Clock::now() < until;) {
      try {
        Stream::connect(port.address());
        serves = true;
      } catch (const ScriptFailure&) {
        REQUIRE(weir.running());
      }
    }
    weir.signal(round % 2 == 0 ? SIGHUP : SIGUSR1);
    weir.signal(SIGTERM);
    CHECK(weir.wait_for_exit() == 0);
  }
}

}  // namespace
}  // namespace weir::e2e
