#include "weir/net/log.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/net/scratch_folder.h"
#include "tests/net/standard_stream.h"
#include "tests/net/tiny_json.h"

using namespace weir::net;
using namespace std::chrono_literals;

namespace {

// What the log wrote to stderr while `speak` ran.
std::vector<std::string> lines_of(const LogOptions& options, const std::function<void()>& speak) {
  ScratchFolder folder;
  {
    const Descriptor file(
        ::open(folder.file("stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    const Redirected redirected(STDERR_FILENO, file.get());
    start_log(options);
    speak();
    stop_log();
  }
  std::vector<std::string> lines;
  std::istringstream stream(text_of(folder.file("stderr")));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a text line has the time, the level, what it is about and what it says") {
  const auto lines = lines_of({}, [] {
    log(LogLevel::info, "listener orders", "listening on {}", "127.0.0.1:5432");
    log(LogLevel::warning, "weir", "no {} room", 100);
    log(LogLevel::error, "weir", "over");
  });
  REQUIRE(lines.size() == 3);
  const std::string time = R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z )";
  CHECK(std::regex_match(
      lines[0], std::regex(time + R"(info +listener orders: listening on 127\.0\.0\.1:5432)")));
  CHECK(std::regex_match(lines[1], std::regex(time + "warning weir: no 100 room")));
  CHECK(std::regex_match(lines[2], std::regex(time + "error +weir: over")));
}

TEST_CASE("a JSON line is one object, whatever the text holds") {
  const std::string text = "a \"quoted\" \\ word,\na line\tand %v {} \x01";
  const auto lines = lines_of({LogLevel::info, LogFormat::json},
                              [&] { write_log(LogLevel::warning, "listener \"a\"", text); });
  REQUIRE(lines.size() == 1);
  const weir::Json line = weir::JsonReader::read(lines[0]);
  CHECK(line.keys() == std::vector<std::string>{"ts", "level", "about", "message"});
  CHECK(line["level"].text == "warning");
  CHECK(line["about"].text == "listener \"a\"");
  CHECK(line["message"].text == text);
}

TEST_CASE("lines below the level are not written") {
  const auto lines = lines_of({LogLevel::warning, LogFormat::text}, [] {
    CHECK_FALSE(log_enabled(LogLevel::debug));
    CHECK_FALSE(log_enabled(LogLevel::info));
    CHECK(log_enabled(LogLevel::warning));
    CHECK(log_enabled(LogLevel::error));
    log(LogLevel::debug, "weir", "one");
    log(LogLevel::info, "weir", "two");
    log(LogLevel::warning, "weir", "three");
  });
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].ends_with("three"));
}

TEST_CASE("a raw line is written as it is") {
  const auto lines = lines_of({LogLevel::error, LogFormat::json},
                              [] { write_raw(R"({"event":"x","share":"100%"})"); });
  CHECK(lines == std::vector<std::string>{R"({"event":"x","share":"100%"})"});
}

TEST_CASE("lines come in the order of writing, and stopping writes what is queued") {
  const auto lines = lines_of({}, [] {
    for (int i = 0; i < 3000; ++i) log(LogLevel::info, "weir", "line {}", i);
  });
  REQUIRE(lines.size() == 3000);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].ends_with("line " + std::to_string(i))) FAIL_CHECK(lines[i]);
  }
}

TEST_CASE("before it starts and after it stops the log is silent") {
  CHECK_FALSE(log_enabled(LogLevel::error));
  log(LogLevel::error, "weir", "nobody hears this");
  write_log(LogLevel::error, "weir", "nor this");
  write_raw("nor this");
  CHECK(lines_of({}, [] {}).empty());
  CHECK_FALSE(log_enabled(LogLevel::error));
}

TEST_CASE("a line after the end is lost and harms nobody, whatever its way") {
  for (const LogFormat format : {LogFormat::text, LogFormat::json}) {
    CHECK(lines_of({LogLevel::info, format}, [] {}).empty());
    CHECK_NOTHROW(log(LogLevel::error, "weir", "late"));
    CHECK_NOTHROW(write_log(LogLevel::error, "weir", "late"));
    CHECK_NOTHROW(write_raw("late"));
  }
}

TEST_CASE("those who log while the log ends are not harmed") {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> ended{false};
    std::future<void> speaker;
    lines_of({}, [&] {
      speaker = std::async(std::launch::async, [&ended] {
        for (int after = 0; after < 100; after += ended ? 1 : 0) {
          write_log(LogLevel::error, "weir", "a line");
        }
      });
      write_raw("somebody else's line");
    });
    ended = true;
    CHECK_NOTHROW(speaker.get());
  }
}

TEST_CASE("a stderr that nobody reads stalls neither those who log nor the end") {
  std::signal(SIGPIPE, SIG_IGN);
  PipeEnds pipe;
  std::future<void> ended;
  bool in_time = false;
  {
    const Redirected redirected(STDERR_FILENO, pipe.writing.get());
    start_log({});
    for (int i = 0; i < 20000; ++i) log(LogLevel::info, "weir", "line {}", i);
    ended = std::async(std::launch::async, [] { stop_log(); });
    in_time = ended.wait_for(10s) == std::future_status::ready;
    pipe.reading.reset();  // sets free whoever is stuck
    ended.wait();
  }
  CHECK(in_time);
}

TEST_CASE("a rate lets one line through per interval and tells how many it held back") {
  using Clock = std::chrono::steady_clock;
  LogRate rate(10s);
  const Clock::time_point start{1000s};
  std::uint64_t held_back = 99;
  CHECK(rate.admit(start, held_back));
  CHECK(held_back == 0);
  CHECK_FALSE(rate.admit(start, held_back));
  CHECK_FALSE(rate.admit(start + 9999ms, held_back));
  CHECK(rate.admit(start + 10s, held_back));
  CHECK(held_back == 2);
  CHECK_FALSE(rate.admit(start + 19s, held_back));
  CHECK(rate.admit(start + 100s, held_back));
  CHECK(held_back == 1);
}

TEST_CASE("level and format can be others from one line to the next") {
  const auto lines = lines_of({}, [] {
    log(LogLevel::debug, "weir", "unheard");
    set_log({LogLevel::debug, LogFormat::text});
    log(LogLevel::debug, "weir", "one");
    set_log({LogLevel::error, LogFormat::json});
    log(LogLevel::warning, "weir", "unheard");
    log(LogLevel::error, "weir", "two");
  });
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].ends_with("debug   weir: one"));
  CHECK(weir::JsonReader::read(lines[1])["message"].text == "two");
}

TEST_CASE("a log that has not started, or has ended, stays silent whatever level it is given") {
  set_log({LogLevel::debug, LogFormat::text});
  CHECK_FALSE(log_enabled(LogLevel::error));
  CHECK(lines_of({}, [] {}).empty());
  set_log({LogLevel::debug, LogFormat::text});
  CHECK_FALSE(log_enabled(LogLevel::error));
}
