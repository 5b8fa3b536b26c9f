#include "net/patient_writer.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "tests/net/scratch_folder.h"
#include "tests/net/standard_stream.h"

using namespace weir::net;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// More than a pipe holds, in lines of 100 bytes.
std::string many_lines() {
  std::string text;
  while (text.size() < 300'000) text += std::string(99, 'x') + "\n";
  return text;
}

std::string read_to_end(const Descriptor& from) {
  std::string text;
  std::string part(64 * 1024, '\0');
  for (;;) {
    const ssize_t count = ::read(from.get(), part.data(), part.size());
    if (count <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

TEST_CASE("a file is written to its end") {
  ScratchFolder folder;
  const std::string text = many_lines();
  PatientWriter writer(
      Descriptor(::open(folder.file("f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
  CHECK(writer);
  int error = 99;
  CHECK(writer.write(text, error).empty());
  CHECK(error == 0);
  CHECK((text_of(folder.file("f")) == text));
  const PatientWriter none;
  CHECK_FALSE(none);
}

TEST_CASE("after a disk that ran full within a line the next line begins on its own") {
  ScratchFolder folder;
  PatientWriter writer(
      Descriptor(::open(folder.file("f").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit little{10, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  int error = 0;
  CHECK(writer.write("one\ntwo two two\n", error) == "o two\n");
  CHECK(error == EFBIG);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(writer.write("three\n", error).empty());
  CHECK(writer.write("four\n", error).empty());
  CHECK(text_of(folder.file("f")) == "one\ntwo tw\nthree\nfour\n");
}

TEST_CASE("a pipe whose reader comes late is waited for") {
  const std::string text = many_lines();
  PipeEnds pipe;
  std::string read;
  std::thread reader([&] {
    std::this_thread::sleep_for(50ms);  // a reader that comes late, not a wait for something
    read = read_to_end(pipe.reading);
  });
  {
    PatientWriter writer(std::move(pipe.writing));
    int error = 99;
    CHECK(writer.write(text, error).empty());
    CHECK(error == 0);
  }
  reader.join();
  CHECK((read == text));
}

TEST_CASE("once hurried, a pipe that nobody reads is given up, in whole lines") {
  const std::string text = many_lines();
  PipeEnds pipe;
  PatientWriter writer(std::move(pipe.writing));
  writer.hurry();
  const Clock::time_point before = Clock::now();
  int error = 99;
  const std::string_view rest = writer.write(text, error);
  CHECK(Clock::now() - before >= 1s);
  CHECK(Clock::now() - before < 10s);
  CHECK(error == 0);
  REQUIRE(rest.size() < text.size());
  CHECK(rest.size() % 100 == 0);
  // The second is one for all: the next write does not wait for another.
  const Clock::time_point again = Clock::now();
  CHECK(writer.write(rest, error).size() == rest.size());
  CHECK(Clock::now() - again < 900ms);
}

TEST_CASE("a pipe whose reader has gone is an error, with what was not written") {
  std::signal(SIGPIPE, SIG_IGN);  // as a running weir does
  PipeEnds pipe;
  PatientWriter writer(std::move(pipe.writing));
  pipe.reading.reset();
  int error = 0;
  CHECK(writer.write("a line\n", error) == "a line\n");
  CHECK(error == EPIPE);
}

TEST_CASE("a writer goes on with another file when it is given one") {
  ScratchFolder folder;
  const auto open = [&](const char* name) {
    return Descriptor(
        ::open(folder.file(name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  };
  PatientWriter writer(open("old"));
  int error = 0;
  CHECK(writer.write("before\n", error).empty());
  writer.replace(open("new"));
  CHECK(writer.write("after\n", error).empty());
  CHECK(text_of(folder.file("old")) == "before\n");
  CHECK(text_of(folder.file("new")) == "after\n");
}
