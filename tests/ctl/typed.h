#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ctl/run.h"
#include "ctl/words.h"
#include "tests/ctl/fake_admin.h"

namespace weir::ctl {

// 2026-11-30T12:00:00Z, when all tests happen.
inline WallTime noon() { return *parse_time("2026-11-30T12:00:00.000Z"); }

// A stream that is kept as text.
class TextStream {
 public:
  TextStream() : file(::open_memstream(&data_, &size_)) {}
  ~TextStream() {
    std::fclose(file);
    std::free(data_);
  }
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;
  std::string text() const {
    std::fflush(file);
    return {data_, size_};
  }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;

 public:
  std::FILE* const file;
};

struct Typed {
  int code;
  std::string out;
  std::string err;
};

// What a test may change about the world of a command.
struct World {
  std::string input = {};
  bool colours = false;
  std::chrono::milliseconds timeout{10'000};
  // In place of waiting; the default ends a command that waits for a second time.
  std::function<bool()> pause = {};
};

// weirctl as typed on a command line: in this process, without its main.
inline Typed typed(std::vector<std::string> arguments, const World& world = {}) {
  TextStream out;
  TextStream err;
  std::FILE* in = std::tmpfile();
  std::fputs(world.input.c_str(), in);
  std::rewind(in);
  int pauses = 0;
  WallTime now = noon();
  SteadyTime steady{};
  Shell shell{.out = out.file,
              .err = err.file,
              .in = in,
              .colours = world.colours,
              .timeout = world.timeout,
              .now = [&] { return now; },
              .steady_now = [&] { return steady; },
              .hold_interrupts = [] {},
              .interrupted = [] { return false; },
              .pause =
                  [&](std::chrono::milliseconds wait) {
                    now += wait;
                    steady += wait;
                    return world.pause ? world.pause() : ++pauses < 2;
                  }};
  const int code = run(std::move(arguments), shell);
  std::fclose(in);
  return {code, out.text(), err.text()};
}

// The same, with the socket of a scripted weir.
inline Typed typed(const FakeAdmin& admin, std::vector<std::string> arguments,
                   const World& world = {}) {
  arguments.insert(arguments.begin(), {"--socket", admin.socket()});
  return typed(std::move(arguments), world);
}

}  // namespace weir::ctl
