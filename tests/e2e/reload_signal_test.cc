#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/reloaded_program.h"
#include "tests/e2e/service.h"

// SIGHUP with files that are bad, and with those that change what belongs to the process.
namespace weir::e2e {
namespace {

struct Stage {
  Stage() {
    text.workers = 2;
    text.listeners = {{"front", {port.on()}, "servers", ""}};
    text.pools = {{"servers", backends_at({server.address()}), "", ""}};
  }
  ConfigText with(const std::string& process) const {
    ConfigText next = text;
    next.process = process + "\n";
    return next;
  }
  void serves(At at = At::here()) const {
    Stream client = Stream::connect(port.address(), {}, at);
    ask(client, at);
  }

  const Port port;
  Service server;
  ConfigText text;
};

// Keys of every kind, one a line where a mistake is to be made.
std::string good_file(const Stage& stage) {
  return fmt::format(R"(workers: 2
admin: {{socket: admin.sock}}
log: {{access: access.log}}
listeners:
  - name: front
    bind: ["{}"]
    pool: servers
pools:
  - name: servers
    timeouts: {{idle: 1h}}
    resilience: {{max_fails: 3}}
    backends:
      - {{name: b1, address: "{}", weight: 1}}
)",
                     stage.port.on(), stage.server.address());
}

// A mistake: what is replaced, by what, and where the message must point: to `at` in the new text,
// behind `before`.
struct Mistake {
  std::string good;
  std::string bad;
  std::string at;
  std::string path;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string position(const std::string& text, const std::string& of) {
  const auto at = text.rfind(of);
  REQUIRE(at != std::string::npos);
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const auto start = text.rfind('\n', at);
  return fmt::format("{}:{}", line + 1, start == std::string::npos ? at + 1 : at - start);
}

TEST_CASE("CFG-01: a bad file is refused at a reload with its places, and nothing changes") {
  const Stage stage;
  const std::string good = good_file(stage);
  const std::string backend =
      "- {name: b1, address: \"" + stage.server.address() + "\", weight: 1}";
  const std::string bind = "bind: [\"" + stage.port.on() + "\"]";
  const auto second_listener = [&](const std::string& name, const std::string& address) {
    return fmt::format("pool: servers\n  - name: {}\n    bind: [\"{}\"]\n    pool: servers\n", name,
                       address);
  };
  const std::string pool = "pool: servers\n";
  const std::vector<Mistake> mistakes{
      {"max_fails: 3", "max_fials: 3", "max_fials", "pools[0].resilience.max_fials"},
      {"    backends:", "    max_fails: 3\n    backends:", "max_fails: 3\n", "pools[0].max_fails"},
      {"max_fails: 3", "max_fails: 3, max_fails: 4", "max_fails: 4",
       "pools[0].resilience.max_fails"},
      {backend, backend + "\n      " + backend, "b1", "pools[0].backends[1].name"},
      {pool, second_listener("back", stage.port.on()), "\"" + stage.port.on(),
       "listeners[1].bind[0]"},
      {pool, second_listener("back", stage.port.on("0.0.0.0")), "\"0.0.0.0",
       "listeners[1].bind[0]"},
      {pool, second_listener("front", "127.0.0.1:1"), "front", "listeners[1].name"},
      {"idle: 1h", "idle: 500", "500", "pools[0].timeouts.idle"},
      {"idle: 1h", "idle: 5 s", "5 s", "pools[0].timeouts.idle"},
      {"idle: 1h", "idle: -1s", "-1s", "pools[0].timeouts.idle"},
      {"weight: 1", "weight: 1e3", "1e3", "pools[0].backends[0].weight"},
      {"weight: 1", "weight: 0x10", "0x10", "pools[0].backends[0].weight"},
      {"weight: 1", "weight: 99999999999999999999", "9999999", "pools[0].backends[0].weight"},
      {"weight: 1", "weight: 0", "weight: 0", "pools[0].backends"},
      {"name: b1", "name: no", "no,", "pools[0].backends[0].name"},
      {pool, "pool: nobody\n", "nobody", "listeners[0].pool"},
      {"idle: 1h", "idle: 1m, half_close: 2m", "2m", "pools[0].timeouts.half_close"},
      {"  - name: front", "\t- name: front", "\t", ""},
      {"max_fails: 3", "max_fails: &a 3, fail_timeout: *a", "*a", ""},
      {bind, "bind: []", "[]", "listeners[0].bind"},
  };
  ReloadedProgram weir(stage.text);
  Stream kept = Stream::connect(stage.port.address());
  ask(kept);
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.bad);
    const std::string bad = replaced(good, mistake.good, mistake.bad);
    const std::string said = weir.refused(bad);
    INFO(said);
    const std::string path = mistake.path.empty() ? "" : mistake.path + ": ";
    if (mistake.bad == "weight: 0") {
      CHECK(count_of(said, path) == 1);
    } else if (mistake.at == "9999999") {
      CHECK(count_of(said, fmt::format("{}:{}: {}", weir.file(),
                                       position(bad, "99999999999999999999"), path)) == 1);
    } else {
      CHECK(count_of(said,
                     fmt::format("{}:{}: {}", weir.file(), position(bad, mistake.at), path)) == 1);
    }
    CHECK(count_of(said, "refused, 1 errors; nothing has changed (SIGHUP)") == 1);
    stage.serves();
  }
  CHECK(count_of(weir.refused(std::string()), "weir.yaml:1:1: ") >= 1);
  ask(kept);
  kept.close();
  // All errors of a file are told in one go, and a good file after the bad ones is taken.
  const std::string two = replaced(replaced(good, "max_fails: 3", "max_fails: 0"), "1h", "500");
  CHECK(count_of(weir.refused(two), "refused, 2 errors") == 1);
  weir.reload(stage.text);
  stage.serves();
  weir.end();
}

TEST_CASE("SIGHUP: what no reload can change is refused, with the way that can") {
  const Stage stage;
  ReloadedProgram weir(stage.text);
  ConfigText more = stage.text;
  more.workers = 3;
  more.pools[0].keys = "balance: first";
  std::string said = weir.refused(more);
  CHECK(count_of(said, "weir.yaml:3:10: workers: needs an upgrade: send SIGUSR2") == 1);
  said = weir.refused(stage.with("admin: {socket: other.sock}"));
  CHECK(count_of(said, "admin.socket: needs an upgrade") == 1);
  CHECK_FALSE(std::filesystem::exists(weir.folder().file("other.sock")));
  CHECK(std::filesystem::exists(weir.folder().file("admin.sock")));
  stage.serves();
  weir.reload(stage.text);
  weir.end();
}

TEST_CASE("SIGHUP: a file that is gone, or cannot be read, changes nothing") {
  const Stage stage;
  ReloadedProgram weir(stage.text);
  std::filesystem::rename(weir.file(), weir.file() + ".away");
  weir.program().signal(SIGHUP);
  weir.program().wait_for_error_text("nothing has changed (SIGHUP)");
  CHECK(count_of(weir.program().errors(), "weir.yaml:1:1: ") == 1);
  stage.serves();
  std::filesystem::create_directory(weir.file());
  weir.program().signal(SIGHUP);
  const auto until = Clock::now() + patience();
  while (count_of(weir.program().errors(), "nothing has changed") < 2 && Clock::now() < until) {
    silence(1ms);
  }
  CHECK(count_of(weir.program().errors(), "nothing has changed") == 2);
  std::filesystem::remove(weir.file());
  weir.reload(stage.text);
  stage.serves();
  weir.end();
}

TEST_CASE("SIGHUP: an address that somebody else has refuses all of the reload") {
  for (const int workers : {1, 4}) {
    Stage stage;
    stage.text.workers = workers;
    const Port free;
    const Backend other("127.0.0.1");
    ReloadedProgram weir(stage.text);
    const auto inodes = listening_inodes(stage.port.number());
    const std::size_t descriptors = weir.program().descriptors();
    ConfigText next = stage.text;
    next.listeners[0].bind = {free.on(), other.address()};
    next.pools[0].keys = "balance: first";
    const std::string said = weir.refused(next);
    CHECK(
        count_of(said, fmt::format("listeners[0].bind[1]: {}: cannot bind: Address already in use",
                                   other.address())) == 1);
    CHECK(listening_inodes(stage.port.number()) == inodes);
    CHECK(listening_inodes(free.number()).empty());
    CHECK(weir.program().descriptors() == descriptors);
    stage.serves();
    next.listeners[0].bind = {free.on()};
    weir.reload(next);
    Stream client = Stream::connect(free.address());
    ask(client);
    client.close();
    weir.end();
  }
}

TEST_CASE("SIGHUP: an access log that cannot be opened refuses the reload") {
  const Stage stage;
  ReloadedProgram weir(stage.text);
  const std::string said =
      weir.refused("log: {access: no-such-folder/access.log}\nadmin: {socket: admin.sock}\n" +
                   stage.text.yaml());
  CHECK(count_of(said, "weir.yaml:1:15: log.access: cannot open ") == 1);
  CHECK(count_of(said, "No such file or directory") == 1);
  stage.serves();
  CHECK(weir.weir().log(1).size() == 1);
  weir.end();
}

TEST_CASE("SIGHUP: the access log goes to another file, off, and on again, and no line is lost") {
  const Stage stage;
  ReloadedProgram weir(stage.text);
  const auto lines = [&weir](const std::string& name) {
    return count_of(read_file(weir.folder().file(name)), "\n");
  };
  const auto wait_for_lines = [&lines](const std::string& name, std::size_t count) {
    const auto until = Clock::now() + patience();
    while (lines(name) < count && Clock::now() < until) silence(1ms);
    CHECK(lines(name) == count);
  };
  stage.serves();
  wait_for_lines("access.log", 1);
  weir.reload(stage.with("log: {access: second.log}"));
  for (int i = 0; i < 3; ++i) stage.serves();
  wait_for_lines("second.log", 3);
  CHECK(lines("access.log") == 1);
  // Reopened it is the one that is in force.
  std::filesystem::rename(weir.folder().file("second.log"), weir.folder().file("second.log.1"));
  weir.program().signal(SIGUSR1);
  while (!std::filesystem::exists(weir.folder().file("second.log"))) silence(1ms);
  stage.serves();
  wait_for_lines("second.log", 1);
  weir.reload(stage.with("log: {access: off}"));
  const std::size_t while_off = weir.program().descriptors();
  for (int i = 0; i < 3; ++i) stage.serves();
  weir.reload(stage.with("log: {access: third.log}"));
  CHECK(weir.program().descriptors() >= while_off);
  stage.serves();
  wait_for_lines("third.log", 1);
  CHECK(lines("access.log") == 1);
  CHECK(lines("second.log") == 1);
  CHECK(lines("second.log.1") == 3);
  weir.end();
}

TEST_CASE("SIGHUP: level and format of the log are those of the file from then on") {
  const Stage stage;
  ReloadedProgram weir(stage.text);
  const auto with_log = [&stage](const std::string& keys) {
    return stage.with("log: {access: access.log" + keys + "}");
  };
  const auto errors = [&weir] { return weir.program().errors(); };
  weir.reload(with_log(", format: json"));
  const std::size_t told = errors().size();
  weir.reload(with_log(", format: json, level: debug"));
  std::istringstream lines(errors().substr(told));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK_FALSE(nlohmann::json::parse(line, nullptr, false).is_discarded());
  }
  CHECK(count > 0);
  // With `error` what follows is silent: the reload that made it so is not told any more.
  const std::string before = errors();
  const Port sign;  // that it has been done
  ConfigText silent = with_log(", level: error");
  silent.listeners.push_back({"sign", {sign.on()}, "servers", ""});
  weir.send(silent);
  while (listening_inodes(sign.number()).size() < 2) silence(1ms);
  stage.serves();
  CHECK(count_of(errors().substr(before.size()), "generation 4") == 0);
  CHECK(count_of(weir.refused("nonsense\n"), "error   reload: ") >= 2);
  weir.send(with_log(", level: info"));
  weir.program().wait_for_error_text("generation 5 is in force");
  weir.end();
}

TEST_CASE("SIGHUP: the deadline of a shutdown is that of the last good file") {
  const Stage stage;
  ReloadedProgram weir(stage.with("shutdown: {deadline: 5m}"));
  Stream client = Stream::connect(stage.port.address());
  ask(client);
  const milliseconds deadline = scaled(300ms);
  weir.reload(stage.with(fmt::format("shutdown: {{deadline: {}ms}}", deadline.count())));
  const Stopwatch since_signal;
  const admin::Snapshot last = weir.end();
  since_signal.expect_between(deadline, deadline + 150ms);
  CHECK(last.listener("front").closed_as(core::CloseReason::shutdown) == 1);
}

}  // namespace
}  // namespace weir::e2e
