#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/admin/http_client.h"
#include "tests/e2e/folder.h"
#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"

// The demo as a newcomer meets it: only by what its greeting says.
namespace weir::e2e {
namespace {

using namespace std::chrono_literals;

class RunningDemo {
 public:
  explicit RunningDemo(std::vector<std::string> arguments) : program({std::move(arguments)}) {
    const auto until = Clock::now() + patience();
    while (!program.handles_signals() && Clock::now() < until) {
      REQUIRE(program.running());
      silence(1ms);
    }
    greeting_ = program.output();
  }

  // What stands between the two in the greeting.
  std::string between(const std::string& before, const std::string& after) const {
    const std::size_t at = greeting_.find(before);
    REQUIRE_MESSAGE(at != std::string::npos, greeting_);
    const std::size_t begin = at + before.size();
    return greeting_.substr(begin, greeting_.find(after, begin) - begin);
  }

  net::SocketAddress clients() const { return address(between("behind ", ".\n")); }
  std::string get(const std::string& path) const {
    admin::HttpClient client(address(between("http://", "/\n")));
    return client.get(path).body;
  }

  // The greeting's own command, with another word.
  void order(const std::string& word) const {
    const Folder folder;
    write_file(folder.file("order"),
               fmt::format("echo \"a {}\" > {}\n", word, between("echo \"a refuse\" > ", "\n")));
    REQUIRE(std::system(("bash " + folder.file("order")).c_str()) == 0);
  }

  // The journal's last event by now; it is asked until another has led backend a to `phase`.
  void wait_for(const std::string& phase, At at = At::here()) {
    const std::string event = fmt::format(R"("backend":"a","to":"{}")", phase);
    const std::size_t seen = journal_.size();
    const auto until = Clock::now() + patience();
    while (true) {
      journal_ = get("/v1/events");
      const std::size_t found = journal_.find(event, seen);
      if (found != std::string::npos) return journal_.resize(found + event.size());
      if (Clock::now() > until) throw ScriptFailure("no event " + event + " in " + journal_, at);
      silence(20ms);
    }
  }
  std::size_t events() const { return count_of(get("/v1/events"), R"("kind":"circuit")"); }

  void end() {
    program.signal(SIGINT);
    CHECK(program.wait_for_exit() == 0);
    exit_snapshot(program.errors());
  }

  Program program;

 private:
  static net::SocketAddress address(const std::string& text) {
    const core::EndpointResult parsed = core::parse_endpoint(text);
    REQUIRE_MESSAGE(parsed.error.empty(), parsed.error);
    return net::SocketAddress::from(parsed.endpoint);
  }

  std::string greeting_;
  std::string journal_;
};

TEST_CASE("demo: it spreads its clients over three backends, shows each, and drains") {
  RunningDemo demo({"--demo", "--quiet"});
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"a", "b", "c"}) {
      Stream client = Stream::connect(demo.clients());
      client.hear(fmt::format("backend {} at your service; type a line\n", name));
      client.say("hello\n");
      client.hear("hello\n");
    }
  }
  const auto until = Clock::now() + patience();
  while (count_of(demo.program.output(), R"("listener":"demo")") < 6 && Clock::now() < until) {
    silence(1ms);
  }
  CHECK(count_of(demo.program.output(), "runs a demo") == 1);
  demo.end();
  CHECK(count_of(demo.program.output(), R"("reason":"client_closed")") == 6);
}

TEST_CASE("demo: a backend that refuses is left alone, probed in vain, and back once it is fine") {
  RunningDemo demo({"--demo"});
  demo.order("refuse");
  demo.wait_for("open");
  demo.wait_for("half_open");
  demo.wait_for("open");
  // Nobody else has noticed.
  Stream client = Stream::connect(demo.clients());
  client.hear("backend ");
  demo.order("fine");
  demo.wait_for("half_open");
  demo.wait_for("closed");
  demo.end();
}

TEST_CASE("demo: a backend that hangs is found out by its silence, and is back once it is fine") {
  RunningDemo demo({"--demo"});
  demo.order("hang");
  demo.wait_for("open");
  demo.order("fine");
  demo.wait_for("half_open");
  demo.wait_for("closed");
  demo.end();
}

TEST_CASE("demo: a backend that is slow stays in use") {
  RunningDemo demo({"--demo"});
  demo.order("slow");
  // Three at once: one of them meets it.
  for (int round = 0; round < 2; ++round) {
    std::vector<Stream> clients;
    for (int i = 0; i < 3; ++i) clients.push_back(Stream::connect(demo.clients()));
    for (Stream& client : clients) client.hear("backend ");
  }
  CHECK(demo.events() == 0);
  demo.end();
}

TEST_CASE("demo: its traffic moves by itself, and its log is where the greeting says") {
  RunningDemo demo({"--demo"});
  const std::string log = demo.between("access log   ", "\n");
  const auto until = Clock::now() + patience();
  while (count_of(read_file(log), R"("reason":"client_closed")") < 3 && Clock::now() < until) {
    silence(20ms);
  }
  CHECK(count_of(read_file(log), R"("reason":"client_closed")") >= 3);
  CHECK(count_of(demo.program.output(), "client_closed") == 0);
  demo.end();
}

}  // namespace
}  // namespace weir::e2e
