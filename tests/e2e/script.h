#pragma once

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

// The clockwork of the scripts: how long they wait, how bounds are checked, how a failure names its
// place. Nothing here knows about sockets.
namespace weir::e2e {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

// Where in a test something was asked of the harness: the last, defaulted parameter of whatever can
// fail.
struct At {
  const char* file;
  int line;
  static At here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// A script did not go as written. Thrown by every part of the harness, on any thread; doctest shows
// the text and fails the test.
struct ScriptFailure : std::runtime_error {
  ScriptFailure(const std::string& what, At at);
};

// Compiled with ASan or TSan, or run with WEIR_TEST_SLOW in the environment.
bool slow();

// How long a script waits for what must come. It fails a hung test; bounds are checked otherwise.
milliseconds patience();

// A bound that holds on a quiet machine, as a busy one is held to it: ten times, thirty when
// slow().
milliseconds at_most(milliseconds quiet_bound);

// A time that a script itself lets pass or configures, stretched where everything is slow, so that
// cause and effect stay apart. scaled_ms() is its text for a configuration file.
milliseconds scaled(milliseconds duration);
std::string scaled_ms(milliseconds duration);

// CPU time that the whole process has used.
milliseconds cpu_time();

// Lets time pass. Only where a script says that somebody is silent for so long.
void silence(milliseconds duration);

// The time since a cause. Start it just *before* the cause, so that an effect that comes early is
// seen to be early however late this thread looks.
class Stopwatch {
 public:
  void restart() { start_ = Clock::now(); }
  milliseconds elapsed() const;
  // Checks that at least `earliest` and at most at_most(`latest`) have passed.
  void expect_between(milliseconds earliest, milliseconds latest, At at = At::here()) const;
  void expect_at_most(milliseconds latest, At at = At::here()) const {
    expect_between(0ms, latest, at);
  }

 private:
  Clock::time_point start_ = Clock::now();
};

// Plays a part of the script beside the rest; its failure is thrown by get(). The future's
// destructor waits for the part to end, which every part does as all its waits are bounded.
template <typename Part>
[[nodiscard]] auto meanwhile(Part part) {
  return std::async(std::launch::async, std::move(part));
}

}  // namespace weir::e2e
