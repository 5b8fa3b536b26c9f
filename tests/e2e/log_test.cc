#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>
#include <string>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"
#include "tests/net/tiny_json.h"

// Logs that nobody reads, or that cannot be written, are no session's business.
namespace weir::e2e {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw ScriptFailure("pipe", At::here());
    read = PeerDescriptor(ends[0]);
    write = PeerDescriptor(ends[1]);
    ::fcntl(write.get(), F_SETPIPE_SZ, 4096);
  }

  // Leaves no room in it; weir's own writes still block, or not, as it likes.
  void fill() const {
    const PeerDescriptor other(::open(fmt::format("/proc/self/fd/{}", write.get()).c_str(),
                                      O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    while (::write(other.get(), "x", 1) == 1) {
    }
  }

  PeerDescriptor read;
  PeerDescriptor write;
};

struct Pair {
  Service service;
  const Port port;

  std::string yaml(const std::string& more = "") const {
    return "shutdown: {deadline: 60s}\n" +
           Setup{
               .workers = 2, .bind = {port.on()}, .timeouts = more, .backends = {service.address()}}
               .yaml();
  }
  void sessions(std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      Stream client = Stream::connect(port.address());
      ask(client);
    }
  }
};

// A lane holds a megabyte of lines of some 350 bytes; two workers have one each.
constexpr std::size_t kMoreThanFits = 9000;

void unread(Pair& pair, ServingProgram& weir, std::size_t sessions) {
  Stream running = Stream::connect(pair.port.address());
  ask(running);
  pair.sessions(sessions);
  const Stopwatch since_question;
  ask(running);
  since_question.expect_at_most(20ms);
  running.close();
  weir.program.signal(SIGTERM);
  const Stopwatch since_signal;
  const admin::Snapshot last = weir.wait_for_clean_exit();
  since_signal.expect_at_most(2000ms);
  CHECK(last.listener("front").accepted == sessions + 1);
  // All but what the pipe took.
  CHECK(last.access_log_dropped > 0);
  CHECK(last.access_log_dropped <= sessions + 1);
}

TEST_CASE("log: an access log on a pipe that nobody reads stalls no session and no exit") {
  Pair pair;
  const Folder folder;
  const std::string path = folder.file("fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const PeerDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ServingProgram weir({.yaml = pair.yaml(), .access = path});
  unread(pair, weir, slow() ? 500 : kMoreThanFits);
}

TEST_CASE("log: the same with stdout") {
  Pair pair;
  const Pipe pipe;
  ServingProgram weir(
      {.yaml = pair.yaml(), .access = "stdout", .program = {.output = pipe.write.get()}});
  unread(pair, weir, 200);
}

TEST_CASE("log: lines that a slow reader leaves are whole, in order, and dropped ones counted") {
  constexpr std::size_t kSessions = 100;
  Pair pair;
  const Pipe pipe;
  pipe.fill();
  ServingProgram weir(
      {.yaml = pair.yaml(), .access = "stdout", .program = {.output = pipe.write.get()}});
  pair.sessions(kSessions);
  auto reading = meanwhile([&] {
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t got = 1; got > 0;) {
      got = ::read(pipe.read.get(), chunk.data(), chunk.size());
      if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
      if (count_of(text, "\n") == kSessions) break;
    }
    return text;
  });
  std::string text = reading.get();
  text.erase(0, text.find('{'));  // what filled the pipe
  const Folder folder;
  write_file(folder.file("read"), text);
  CHECK(read_access_log(folder.file("read")).size() == kSessions);
  weir.program.signal(SIGTERM);
  CHECK(weir.wait_for_clean_exit().access_log_dropped == 0);
}

TEST_CASE("log: a reader of the access log that goes away costs lines, not sessions") {
  Pair pair;
  Pipe pipe;
  ServingProgram weir(
      {.yaml = pair.yaml(), .access = "stdout", .program = {.output = pipe.write.get()}});
  pipe.write.close();
  pair.sessions(1);
  pipe.read.close();
  pair.sessions(50);
  weir.program.wait_for_error_text("cannot write to stdout");
  weir.program.signal(SIGTERM);
  CHECK(weir.wait_for_clean_exit().access_log_dropped >= 50);
  CHECK(count_of(weir.program.errors(), "cannot write to stdout") == 1);
}

TEST_CASE("log: a full disk costs lines, not sessions") {
  Pair pair;
  ServingProgram weir({.yaml = pair.yaml(), .access = "/dev/full"});
  pair.sessions(50);
  weir.program.wait_for_error_text("cannot write to /dev/full");
  weir.program.signal(SIGTERM);
  CHECK(weir.wait_for_clean_exit().access_log_dropped == 50);
}

TEST_CASE("log: a pipe without a reader is refused at the start, and kept waiting for by nobody") {
  Pair pair;
  const Folder folder;
  const std::string path = folder.file("fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  write_file(folder.file("weir.yaml"), "log: {access: fifo}\n" + pair.yaml());
  const Ended refused = run_weir({"-c", folder.file("weir.yaml")});
  CHECK(refused.code == 1);
  CHECK(count_of(refused.errors, "access log: cannot open " + path) == 1);
}

TEST_CASE("log: reopening a pipe whose reader has gone does not hold up the exit") {
  Pair pair;
  const Folder folder;
  const std::string path = folder.file("fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  PeerDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ServingProgram weir({.yaml = pair.yaml(), .access = path});
  pair.sessions(1);
  reader.close();
  weir.program.signal(SIGUSR1);
  weir.program.wait_for_error_text("cannot reopen");
  pair.sessions(5);
  weir.program.signal(SIGTERM);
  const Stopwatch since_signal;
  weir.wait_for_clean_exit();
  since_signal.expect_at_most(500ms);
}

TEST_CASE("log: a stderr that nobody reads holds up neither sessions nor the exit") {
  for (const int signals : {1, 2}) {
    Pair pair;
    const Pipe pipe;
    ServingProgram weir({.yaml = pair.yaml(), .program = {.errors = pipe.write.get()}});
    pipe.fill();
    for (int i = 0; i < 200; ++i) weir.program.signal(SIGUSR1);  // a line each
    pair.sessions(20);
    Stream running = Stream::connect(pair.port.address());
    ask(running);
    weir.program.signal(SIGTERM);
    if (signals == 2) {
      silence(scaled(200ms));
      weir.program.signal(SIGTERM);
    } else {
      running.close();
    }
    const Stopwatch since_signal;
    CHECK(weir.program.wait_for_exit() == signals - 1);
    since_signal.expect_at_most(2500ms);
  }
}

TEST_CASE("log: a signal that comes when all is over takes the exit code away from nobody") {
  Pair pair;
  const Pipe pipe;
  ServingProgram weir({.yaml = pair.yaml(), .program = {.errors = pipe.write.get()}});
  pair.sessions(20);
  pipe.fill();
  weir.program.signal(SIGTERM);
  // Its last lines find no room, which keeps it for a while.
  while (weir.program.running()) {
    weir.program.signal(SIGHUP);
    silence(5ms);
  }
  CHECK(weir.program.wait_for_exit() == 0);
}

// A reload of a file that is worth a warning, which is one line.
void be_warned(const ServingProgram& weir) {
  std::string text = read_file(weir.config_file());
  const std::string backends = "    backends:\n";
  text.replace(text.find(backends), backends.size(),
               "    health: {interval: 10s, timeout: 20s}\n" + backends);
  write_file(weir.config_file(), text);
  weir.program.signal(SIGHUP);
}

TEST_CASE("log: format json is one object a line, and level says which lines there are") {
  Pair pair;
  ServingProgram weir({.yaml = pair.yaml(), .log = "format: json, level: debug"});
  pair.sessions(2);
  be_warned(weir);
  weir.program.wait_for_error_text("is in force");
  weir.program.signal(SIGTERM);
  weir.wait_for_clean_exit();
  std::size_t lines = 0;
  std::istringstream text(weir.program.errors());
  for (std::string line; std::getline(text, line); ++lines) {
    INFO(line);
    CHECK_NOTHROW(JsonReader::read(line));
    CHECK((line.find(R"("level":")") != std::string::npos ||
           line.find(R"("event":"exit_snapshot")") != std::string::npos));
  }
  CHECK(lines >= 5);
  CHECK(count_of(weir.program.errors(), R"("level":"warning")") == 1);
  CHECK(count_of(weir.program.errors(), R"("level":"info")") >= 3);
}

TEST_CASE("log: level warning and error leave out what is below them") {
  for (const bool error : {false, true}) {
    Pair pair;
    ServingProgram weir({.yaml = pair.yaml(), .log = error ? "level: error" : "level: warning"});
    pair.sessions(2);
    be_warned(weir);
    if (!error) weir.program.wait_for_error_text("longer than interval");
    weir.program.signal(SIGTERM);
    weir.wait_for_clean_exit();
    // The snapshot is no leveled line: it is always there.
    CHECK(count_of(weir.program.errors(), "\n") == (error ? 1 : 2));
  }
}

TEST_CASE("log: access off writes none, and costs nothing") {
  Pair pair;
  ServingProgram weir({.yaml = pair.yaml(), .access = "off"});
  pair.sessions(5);
  weir.program.signal(SIGUSR1);
  weir.program.signal(SIGTERM);
  CHECK(weir.wait_for_clean_exit().access_log_dropped == 0);
  CHECK(weir.program.output().empty());
  CHECK(read_file(weir.access_log()).empty());
}

// What a peer chooses must not be able to write the log.
TEST_CASE("log: a unix client's own path is no part of a line that it could shape") {
  Service service;
  const Folder folder;
  TestWeir weir(
      Setup{.bind = {folder.unix_socket("front")}, .backends = {service.address()}}.yaml());
  for (const char* name : {"a\",\"reason\":\"killed", "b\nc", "d\\e", "f\xff"}) {
    const auto own =
        net::SocketAddress::from({core::Endpoint::Kind::unix_path, folder.file(name), {}, 0});
    PeerDescriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(descriptor.get(), own.generic(), own.length()) == 0);
    const net::SocketAddress front = weir.address();
    REQUIRE(::connect(descriptor.get(), front.generic(), front.length()) == 0);
    Stream client(std::move(descriptor), Stream::Role::client);
    ask(client);
  }
  weir.expect_closed(core::CloseReason::client_closed, 4);
  weir.settle();
}

TEST_CASE("log: a backend's path with quotes in it leaves log and snapshot whole") {
  const Folder folder;
  const Port port;
  Service service("unix:" + folder.file("a\"b\\c"));
  ServingProgram weir(
      {.yaml =
           Setup{.bind = {port.on()}, .backends = {"unix:" + folder.file("a\\\"b\\\\c")}}.yaml()});
  {
    Stream client = Stream::connect(port.address());
    ask(client);
  }
  CHECK(weir.log(1)[0].address == service.address());
  weir.program.signal(SIGTERM);
  CHECK(weir.wait_for_clean_exit().backend("servers", "b1").address == service.address());
}

}  // namespace
}  // namespace weir::e2e
