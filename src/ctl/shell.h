#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>

#include "ctl/words.h"

namespace weir::ctl {

// Exit codes, the same for every program of weir.
constexpr int kDone = 0;
constexpr int kFailed = 1;  // at run time
constexpr int kUsage = 2;   // wrong usage

using SteadyTime = std::chrono::steady_clock::time_point;

// What a command has of the world outside of weir; made by main, and by tests. Nothing is owned.
struct Shell {
  std::FILE* out;
  std::FILE* err;
  std::FILE* in;
  bool colours = false;                       // on `out`
  bool terminal = false;                      // `out` and `in` are one
  std::chrono::milliseconds timeout{10'000};  // of one request
  std::function<WallTime()> now;
  std::function<SteadyTime()> steady_now;
  // From here on Ctrl-C is no death but an answer of `pause` and `interrupted`.
  std::function<void()> hold_interrupts;
  std::function<bool()> interrupted;
  // Waits so long; false when the user has had enough.
  std::function<bool(std::chrono::milliseconds)> pause;
};

// Flushed, so that a pipe sees a line when it is written.
inline void say(const Shell& shell, std::string_view text) {
  fmt::print(shell.out, "{}", text);
  std::fflush(shell.out);
}

inline void complain(const Shell& shell, std::string_view message) {
  fmt::print(shell.err, "weirctl: {}\n", message);
  std::fflush(shell.err);
}

}  // namespace weir::ctl
