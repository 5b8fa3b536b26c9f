#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>

#include "tests/ctl/answers.h"
#include "tests/ctl/child.h"
#include "tests/ctl/fake_admin.h"

// weirctl as a program of its own: its signals, its terminal, its exit codes.
using namespace weir::ctl;

namespace {

struct Weir : FakeAdmin {
  Weir() {
    answers("GET /v1/status", answers::status);
    answers("GET /v1/listeners", answers::listeners);
    answers("GET /v1/pools", std::string(R"({"pools":[)") + answers::pool + "]}");
    answers("GET /v1/events?since=0", answers::events);
    answers("GET /v1/events?since=7", R"({"events":[],"next":7,"oldest":6})");
  }
  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), {WEIRCTL_BINARY, "--socket", socket()});
    return words;
  }
};

// What gives a terminal of xterm's kind its screen back.
constexpr const char* kScreenGivenBack = "\x1b[?1049l";

}  // namespace

TEST_CASE("program: exit codes and streams are those of the contract") {
  const Weir weir;
  const Child::Ended good = Child(weir.command({"status"})).end();
  CHECK(good.code == 0);
  CHECK(good.err.empty());
  CHECK(good.out.find("\x1b") == std::string::npos);
  const Child::Ended failed = Child({WEIRCTL_BINARY, "--socket", "/nobody/here", "status"}).end();
  CHECK(failed.code == 1);
  CHECK(failed.out.empty());
  CHECK(failed.err ==
        "weirctl: cannot reach /nobody/here: No such file or directory (is weir running? "
        "--socket or WEIR_SOCKET names another)\n");
  CHECK(Child({WEIRCTL_BINARY, "no-such-command"}).end().code == 2);
  CHECK(Child({WEIRCTL_BINARY, "--version"}).end().out ==
        fmt::format("weirctl {}\n", WEIR_VERSION));
}

TEST_CASE("program: WEIR_SOCKET names the socket") {
  const Weir weir;
  const Child::Ended ended =
      Child({WEIRCTL_BINARY, "status"}, Child::At::pipes, {"WEIR_SOCKET=" + weir.socket()}).end();
  CHECK(ended.code == 0);
  CHECK(ended.out.starts_with("version     0.1.0\n"));
}

TEST_CASE("program: colours are for a terminal, unless NO_COLOR is set") {
  const Weir weir;
  const auto health = [&](std::vector<std::string> environment) {
    environment.emplace_back("TERM=xterm");
    return Child(weir.command({"backends"}), Child::At::terminal, environment).end().out;
  };
  CHECK(health({}).find("\x1b[31mcircuit_open\x1b[0m") != std::string::npos);
  CHECK(health({"NO_COLOR=1"}).find('\x1b') == std::string::npos);
}

TEST_CASE("program: what cannot be written is a failure") {
  const Weir weir;
  const Child::Ended ended =
      Child({"/bin/sh", "-c",
             fmt::format("exec {} --socket {} status >/dev/full", WEIRCTL_BINARY, weir.socket())})
          .end();
  CHECK(ended.code == 1);
  CHECK(ended.err == "weirctl: cannot write the answer to standard output\n");
}

TEST_CASE("program: a pipe sees a followed event at once, and Ctrl-C is the end with code 0") {
  const Weir weir;
  Child child(weir.command({"events", "--follow"}));
  CHECK(child.shows("generation 3: SIGHUP\n"));
  child.signal(SIGINT);
  const Child::Ended ended = child.end();
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
}

TEST_CASE("program: Ctrl-C ends what waits for a weir that hangs") {
  Weir weir;
  weir.answers("GET /v1/events?since=7", R"({"events":[],"next":7,"oldest":6})");
  weir.hangs("GET /v1/events?since=7");
  weir.hangs("GET /v1/events?since=7");
  Child child(weir.command({"events", "--follow"}));
  CHECK(child.shows("generation 3: SIGHUP\n"));
  child.signal(SIGINT);
  CHECK(child.end().code == 0);
}

TEST_CASE("program: top draws on its terminal, goes on through a failure, and q gives it back") {
  Weir weir;
  Child child(weir.command({"top"}), Child::At::terminal, {"TERM=xterm"});
  CHECK(child.shows("weir 0.1.0"));
  CHECK(child.shows("orders/pg-b"));
  CHECK(child.shows("SIGHUP"));
  weir.stop();
  CHECK(child.shows("cannot reach"));
  weir.answers("GET /v1/status", R"({"version":"recovered","pid":4711})");
  weir.start();
  CHECK(child.shows("recovered"));
  child.type("q");
  const Child::Ended ended = child.end();
  CHECK(ended.code == 0);
  CHECK(ended.out.find(kScreenGivenBack) != std::string::npos);
}

TEST_CASE("program: top follows the size of its terminal") {
  const Weir weir;
  Child child(weir.command({"top"}), Child::At::terminal, {"TERM=xterm"});
  CHECK(child.shows("SIGHUP"));
  // Too small for events; the list of backends is cut.
  child.forget();
  child.resize(12, 60);
  CHECK(child.shows("more"));
  child.type("q");
  CHECK(child.end().code == 0);
}

TEST_CASE("program: Ctrl-C ends top as q does, and the terminal is as it was") {
  const Weir weir;
  Child child(weir.command({"top"}), Child::At::terminal, {"TERM=xterm"});
  CHECK(child.shows("SIGHUP"));
  child.type("\x03");
  const Child::Ended ended = child.end();
  CHECK(ended.code == 0);
  CHECK(ended.out.find(kScreenGivenBack) != std::string::npos);
}

TEST_CASE("program: a terminal of an unknown kind is no crash") {
  const Weir weir;
  const Child::Ended ended =
      Child(weir.command({"top"}), Child::At::terminal, {"TERM=no-such-terminal"}).end();
  CHECK(ended.code == 1);
  CHECK(ended.out.find("top --once needs none") != std::string::npos);
}

TEST_CASE("program: a wrong socket is told before the screen is taken") {
  const Child::Ended ended = Child({WEIRCTL_BINARY, "--socket", "/nobody/here", "top"},
                                   Child::At::terminal, {"TERM=xterm"})
                                 .end();
  CHECK(ended.code == 1);
  CHECK(ended.out.find("cannot reach /nobody/here") != std::string::npos);
  CHECK(ended.out.find("\x1b[?1049h") == std::string::npos);
}
