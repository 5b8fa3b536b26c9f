#include "tests/e2e/script.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>

namespace weir::e2e {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// weir counts from the moment its turn began, which is before the cause if the kernel took the CPU
// away in between.
constexpr milliseconds kEarly = 15ms;

std::string placed(const std::string& what, At at) {
  const std::string_view file = at.file;
  return fmt::format("{}:{}: {}", file.substr(file.rfind('/') + 1), at.line, what);
}

}  // namespace

ScriptFailure::ScriptFailure(const std::string& what, At at) : runtime_error(placed(what, at)) {}

bool slow() {
  static const bool asked = std::getenv("WEIR_TEST_SLOW") != nullptr;
  return kSanitized || asked;
}

milliseconds patience() { return slow() ? 80s : 8s; }

milliseconds at_most(milliseconds quiet_bound) { return quiet_bound * (slow() ? 30 : 10); }

milliseconds scaled(milliseconds duration) { return duration * (slow() ? 4 : 1); }

std::string scaled_ms(milliseconds duration) {
  return fmt::format("{}ms", scaled(duration).count());
}

milliseconds cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::duration_cast<milliseconds>(std::chrono::seconds(used.tv_sec) +
                                                  std::chrono::nanoseconds(used.tv_nsec));
}

void silence(milliseconds duration) { std::this_thread::sleep_for(duration); }

milliseconds Stopwatch::elapsed() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start_);
}

void Stopwatch::expect_between(milliseconds earliest, milliseconds latest, At at) const {
  const milliseconds took = elapsed();
  if (took + kEarly < earliest) {
    throw ScriptFailure(
        fmt::format("came after {} ms, before its time of {} ms", took.count(), earliest.count()),
        at);
  }
  if (took > at_most(latest)) {
    throw ScriptFailure(
        fmt::format("came after {} ms; it may take {} ms on a quiet machine and {} ms here",
                    took.count(), latest.count(), at_most(latest).count()),
        at);
  }
}

}  // namespace weir::e2e
