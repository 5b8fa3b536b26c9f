#include "weir/net/line_log.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/net/scratch_folder.h"
#include "tests/net/standard_stream.h"

using namespace weir::net;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The writer has a thread of its own: there is nothing to inject, so this looks now and then.
bool comes_true(const std::function<bool()>& condition) {
  for (const auto until = Clock::now() + 20s; Clock::now() < until;) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

// A named pipe that is open for reading, so that a log can open it for writing.
struct NamedPipe {
  explicit NamedPipe(const std::string& at) : path(at) {
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    reading = Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(reading);
  }
  std::string read_all() {
    std::string text;
    std::string part(64 * 1024, '\0');
    for (;;) {
      const ssize_t count = ::read(reading.get(), part.data(), part.size());
      if (count <= 0) return text;
      text.append(part.data(), static_cast<std::size_t>(count));
    }
  }
  // Nobody has it open for writing any more, and all is read.
  bool let_go() const {
    pollfd end{reading.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) > 0 && end.revents == POLLHUP;
  }
  // Nothing more goes into it.
  bool full() const {
    const Descriptor writing(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    pollfd room{writing.get(), POLLOUT, 0};
    return ::poll(&room, 1, 0) == 0;
  }
  std::string path;
  Descriptor reading;
};

// Lines of 100 bytes with their number in front.
std::string numbered(int number) {
  std::string line = std::to_string(number) + " ";
  line.resize(99, '.');
  return line + "\n";
}

}  // namespace

TEST_CASE("lines are in the file in the order of writing, after those that were there") {
  ScratchFolder folder;
  const std::string file = folder.file("access.log");
  write_file(file, "old\n");
  {
    LineLog log(file, 1);
    CHECK(log.enabled());
    for (int i = 0; i < 2000; ++i) log.lane(0).write(std::to_string(i) + "\n");
    log.finish();
    CHECK(log.dropped() == 0);
  }
  const auto lines = lines_in(text_of(file));
  REQUIRE(lines.size() == 2001);
  CHECK(lines[0] == "old");
  for (std::size_t i = 0; i < 2000; ++i) CHECK(lines[i + 1] == std::to_string(i));
}

TEST_CASE("each worker's lines are whole and in its order") {
  ScratchFolder folder;
  const std::string file = folder.file("access.log");
  LineLog log(file, 3);
  std::vector<std::thread> workers;
  for (std::size_t worker = 0; worker < 3; ++worker) {
    workers.emplace_back([&log, worker] {
      for (int i = 0; i < 1000; ++i) {
        log.lane(worker).write(std::to_string(worker) + " " + std::to_string(i) + "\n");
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  log.finish();
  std::vector<int> next(3);
  for (const std::string& line : lines_in(text_of(file))) {
    const auto worker = static_cast<std::size_t>(line.at(0) - '0');
    CHECK(line == std::to_string(worker) + " " + std::to_string(next.at(worker)++));
  }
  CHECK(next == std::vector<int>{1000, 1000, 1000});
}

TEST_CASE("a line is in the file soon, without an end and without a second line") {
  ScratchFolder folder;
  LineLog log(folder.file("access.log"), 1);
  log.lane(0).write("one\n");
  CHECK(comes_true([&] { return text_of(folder.file("access.log")) == "one\n"; }));
  log.lane(0).write("two\n");
  CHECK(comes_true([&] { return text_of(folder.file("access.log")) == "one\ntwo\n"; }));
}

TEST_CASE(
    "a pipe that nobody reads costs lines, which are counted, and stalls neither work nor end") {
  ScratchFolder folder;
  NamedPipe pipe(folder.file("pipe"));
  constexpr int kLines = 40000;  // 4 MB: more than pipe, writer and lane hold together
  LineLog log(folder.file("pipe"), 1);
  for (int i = 0; i < kLines; ++i) log.lane(0).write(numbered(i));
  CHECK(log.dropped() > 0);
  const Clock::time_point before = Clock::now();
  log.finish();
  CHECK(Clock::now() - before < 10s);
  // Whole lines in their order, and not one unaccounted for.
  const auto lines = lines_in(pipe.read_all());
  CHECK_FALSE(lines.empty());
  int last = -1;
  for (const std::string& line : lines) {
    CHECK(line.size() == 99);
    const int number = std::stoi(line);
    CHECK(number > last);
    last = number;
  }
  CHECK(lines.size() + log.dropped() == kLines);
}

TEST_CASE("a pipe whose reader comes late gets what was kept for it") {
  ScratchFolder folder;
  NamedPipe pipe(folder.file("pipe"));
  LineLog log(folder.file("pipe"), 1);
  for (int i = 0; i < 5000; ++i) log.lane(0).write(numbered(i));
  std::string text;
  CHECK(comes_true([&] { return (text += pipe.read_all()).size() == 5000 * 100; }));
  CHECK(log.dropped() == 0);
}

TEST_CASE("a pipe whose reader has gone costs lines and nothing else") {
  std::signal(SIGPIPE, SIG_IGN);  // as a running weir does
  ScratchFolder folder;
  NamedPipe pipe(folder.file("pipe"));
  LineLog log(folder.file("pipe"), 1);
  pipe.reading.reset();
  for (int i = 0; i < 10; ++i) log.lane(0).write(numbered(i));
  log.finish();
  CHECK(log.dropped() == 10);
}

TEST_CASE("after a rotation the lines go to a new file of the old name") {
  ScratchFolder folder;
  const std::string file = folder.file("access.log");
  LineLog log(file, 1);
  log.lane(0).write("before\n");
  REQUIRE(comes_true([&] { return text_of(file) == "before\n"; }));
  std::filesystem::rename(file, folder.file("access.log.1"));
  log.lane(0).write("between\n");
  log.reopen();
  REQUIRE(comes_true([&] { return std::filesystem::exists(file); }));
  log.lane(0).write("after\n");
  log.finish();
  CHECK(text_of(folder.file("access.log.1")) == "before\nbetween\n");
  CHECK(text_of(file) == "after\n");
}

TEST_CASE("a file that cannot be opened again is written on") {
  ScratchFolder folder;
  std::filesystem::create_directory(folder.file("logs"));
  LineLog log(folder.file("logs/access.log"), 1);
  log.lane(0).write("before\n");
  std::filesystem::rename(folder.file("logs"), folder.file("moved"));
  log.reopen();
  log.lane(0).write("after\n");
  log.finish();
  CHECK(text_of(folder.file("moved/access.log")) == "before\nafter\n");
  CHECK(log.dropped() == 0);
}

TEST_CASE("a file that cannot be opened at the start is an error with the file's name") {
  ScratchFolder folder;
  const std::string file = folder.file("none/access.log");
  try {
    const LineLog log(file, 1);
    FAIL("it was opened");
  } catch (const std::system_error& error) {
    CHECK(error.code() == std::errc::no_such_file_or_directory);
    CHECK(std::string(error.what()).find(file) != std::string::npos);
  }
}

TEST_CASE("stdout is a target too, and stays open for others afterwards") {
  ScratchFolder folder;
  const Descriptor file(
      ::open(folder.file("stdout").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  {
    const Redirected redirected(STDOUT_FILENO, file.get());
    {
      LineLog log("stdout", 1);
      log.lane(0).write("a line\n");
    }
    CHECK(::write(STDOUT_FILENO, "more\n", 5) == 5);
  }
  CHECK(text_of(folder.file("stdout")) == "a line\nmore\n");
}

TEST_CASE("a log that is off writes nothing and costs nobody anything") {
  LineLog log("off", 1);
  CHECK_FALSE(log.enabled());
  log.reopen();
  log.finish();
  CHECK(log.dropped() == 0);
}

TEST_CASE("a log that goes on in another file leaves the first as it is, and loses no line") {
  ScratchFolder folder;
  LineLog log(folder.file("first"), 1);
  log.lane(0).write("one\n");
  REQUIRE(comes_true([&] { return text_of(folder.file("first")) == "one\n"; }));
  log.retarget(LineTarget::open(folder.file("second")));
  log.lane(0).write("two\n");
  REQUIRE(comes_true([&] { return text_of(folder.file("second")) == "two\n"; }));
  // Another name holds for a rotation, too.
  std::filesystem::rename(folder.file("second"), folder.file("second.1"));
  log.reopen();
  REQUIRE(comes_true([&] { return std::filesystem::exists(folder.file("second")); }));
  log.lane(0).write("three\n");
  log.finish();
  CHECK(text_of(folder.file("first")) == "one\n");
  CHECK(text_of(folder.file("second.1")) == "two\n");
  CHECK(text_of(folder.file("second")) == "three\n");
  CHECK(log.dropped() == 0);
}

TEST_CASE("a log that is switched off writes what it has, and goes on when it is on again") {
  ScratchFolder folder;
  LineLog log(folder.file("first"), 1);
  log.lane(0).write("one\n");
  log.retarget(LineTarget::open("off"));
  CHECK_FALSE(log.enabled());
  CHECK_FALSE(log.lane(0).wanted());
  REQUIRE(comes_true([&] { return text_of(folder.file("first")) == "one\n"; }));
  log.reopen();
  log.retarget(LineTarget::open("off"));
  log.retarget(LineTarget::open(folder.file("second")));
  CHECK(log.lane(0).wanted());
  log.lane(0).write("two\n");
  log.finish();
  CHECK(text_of(folder.file("first")) == "one\n");
  CHECK(text_of(folder.file("second")) == "two\n");
}

TEST_CASE("a log that was off from the start can be switched on") {
  ScratchFolder folder;
  LineLog log("off", 2);
  CHECK_FALSE(log.lane(1).wanted());
  log.retarget(LineTarget::open(folder.file("log")));
  log.lane(1).write("one\n");
  log.finish();
  CHECK(text_of(folder.file("log")) == "one\n");
}

TEST_CASE("a log that is off holds no file open") {
  ScratchFolder folder;
  NamedPipe pipe(folder.file("pipe"));
  LineLog log(folder.file("pipe"), 1);
  log.lane(0).write("one\n");
  std::string text;
  REQUIRE(comes_true([&] { return (text += pipe.read_all()) == "one\n"; }));
  log.retarget(LineTarget::open("off"));
  // Without a writer a pipe is at its end, and before that it has nothing yet.
  CHECK(comes_true([&] {
    char byte = 0;
    return ::read(pipe.reading.get(), &byte, 1) == 0;
  }));
}

namespace {

constexpr int kMany = 5000;  // 500 KB: more than a pipe holds, less than a lane

// A log whose writer waits for somebody to read a pipe.
struct Stuck {
  Stuck() {
    for (int i = 0; i < kMany; ++i) log.lane(0).write(numbered(i));
    REQUIRE(comes_true([this] { return pipe.full(); }));
  }
  ScratchFolder folder;
  NamedPipe pipe{folder.file("pipe")};
  LineLog log{folder.file("pipe"), 2};
};

// All of them, each once and in its order: the first in the pipe, the rest in the file.
void check_split(const std::string& in_pipe, const std::string& in_file) {
  const auto lines = lines_in(in_pipe + in_file);
  REQUIRE(lines.size() == kMany);
  for (int i = 0; i < kMany; ++i) {
    const std::string line = lines[static_cast<std::size_t>(i)] + "\n";
    if (line != numbered(i)) FAIL_CHECK(line);
  }
}

}  // namespace

TEST_CASE("a log whose pipe nobody reads goes on in another file at once, with what was queued") {
  Stuck stuck;
  const std::string file = stuck.folder.file("file");
  stuck.log.retarget(LineTarget::open(file));
  CHECK(comes_true([&] { return lines_in(text_of(file)).size() > kMany / 2; }));
  check_split(stuck.pipe.read_all(), text_of(file));
  stuck.log.lane(1).write("later\n");
  CHECK(comes_true([&] { return text_of(file).ends_with("later\n"); }));
  stuck.log.finish();
  CHECK(stuck.log.dropped() == 0);
  char byte = 0;
  CHECK(::read(stuck.pipe.reading.get(), &byte, 1) == 0);  // it is closed
}

TEST_CASE("a log whose pipe nobody reads can go on in another such pipe, and on from there") {
  Stuck stuck;
  NamedPipe second(stuck.folder.file("second"));
  stuck.log.retarget(LineTarget::open(stuck.folder.file("second")));
  REQUIRE(comes_true([&] { return second.full(); }));
  stuck.log.retarget(LineTarget::open(stuck.folder.file("file")));
  stuck.log.finish();
  check_split(stuck.pipe.read_all() + second.read_all(), text_of(stuck.folder.file("file")));
  CHECK(stuck.log.dropped() == 0);
}

TEST_CASE("a log whose pipe nobody reads is reopened under the old name at once") {
  Stuck stuck;
  const std::string name = stuck.folder.file("pipe");
  std::filesystem::rename(name, stuck.folder.file("moved"));
  stuck.log.reopen();
  CHECK(comes_true(
      [&] { return std::filesystem::exists(name) && lines_in(text_of(name)).size() > kMany / 2; }));
  stuck.log.finish();
  check_split(stuck.pipe.read_all(), text_of(name));
  CHECK(stuck.log.dropped() == 0);
}

// Opened anew between two looks of the writer, it finds the line only then.
TEST_CASE("a pipe that has filled up keeps no line back from the file that follows it") {
  for (int round = 0; round < 5; ++round) {
    ScratchFolder folder;
    const std::string name = folder.file("pipe");
    NamedPipe pipe(name);
    LineLog log(name, 1);
    log.lane(0).write("first\n");
    std::string text;
    REQUIRE(comes_true([&] { return (text += pipe.read_all()) == "first\n"; }));
    const Descriptor other(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    while (::write(other.get(), "x", 1) == 1) {
    }
    std::filesystem::rename(name, folder.file("moved"));
    log.lane(0).write("second\n");
    log.reopen();
    CHECK(comes_true([&] { return std::filesystem::exists(name) && text_of(name) == "second\n"; }));
    log.finish();
    CHECK(log.dropped() == 0);
  }
}

TEST_CASE("a log whose pipe nobody reads can be switched off, and what is lost is counted") {
  Stuck stuck;
  stuck.log.retarget(LineTarget::open("off"));
  REQUIRE(comes_true([&] { return stuck.log.dropped() > 0; }));
  std::string written;
  REQUIRE(comes_true([&] {
    written += stuck.pipe.read_all();
    return stuck.pipe.let_go();
  }));
  CHECK(lines_in(written).size() + stuck.log.dropped() == kMany);
  // And on again.
  stuck.log.retarget(LineTarget::open(stuck.folder.file("file")));
  stuck.log.lane(0).write("later\n");
  stuck.log.finish();
  CHECK(text_of(stuck.folder.file("file")) == "later\n");
}

TEST_CASE("a line of which a part is in a pipe that nobody reads is not begun again elsewhere") {
  ScratchFolder folder;
  NamedPipe pipe(folder.file("pipe"));
  LineLog log(folder.file("pipe"), 1);
  log.lane(0).write(std::string(100'000, 'x') + "\nwhole\n");
  REQUIRE(comes_true([&] { return pipe.full(); }));
  log.retarget(LineTarget::open(folder.file("file")));
  log.finish();
  CHECK(lines_in(text_of(folder.file("file"))).back() == "whole");
  CHECK(text_of(folder.file("file")).find('x') == std::string::npos);
  CHECK(log.dropped() == 1);
}

TEST_CASE("a target that is taken back leaves no file that it has made, and every other") {
  ScratchFolder folder;
  LineTarget made = LineTarget::open(folder.file("made"));
  CHECK(std::filesystem::exists(folder.file("made")));
  made.take_back();
  CHECK_FALSE(std::filesystem::exists(folder.file("made")));
  CHECK_FALSE(made.file);

  write_file(folder.file("empty"), "");
  LineTarget there = LineTarget::open(folder.file("empty"));
  there.take_back();
  CHECK(std::filesystem::exists(folder.file("empty")));

  LineTarget used = LineTarget::open(folder.file("used"));
  write_file(folder.file("used"), "a line\n");
  used.take_back();
  CHECK(text_of(folder.file("used")) == "a line\n");

  LineTarget moved = LineTarget::open(folder.file("moved"));
  std::filesystem::rename(folder.file("moved"), folder.file("elsewhere"));
  write_file(folder.file("moved"), "");
  moved.take_back();
  CHECK(std::filesystem::exists(folder.file("moved")));
  CHECK(std::filesystem::exists(folder.file("elsewhere")));

  LineTarget off = LineTarget::open("off");
  off.take_back();
  LineTarget out = LineTarget::open("stdout");
  out.take_back();
}
