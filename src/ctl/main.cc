#include <curl/curl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ctl/interrupts.h"
#include "ctl/run.h"

namespace {

// As https://no-color.org has it.
bool wants_colours() {
  const char* never = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (never == nullptr || *never == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weir;
  curl_global_init(CURL_GLOBAL_NOTHING);  // no TLS is spoken
  ctl::Shell shell{.out = stdout,
                   .err = stderr,
                   .in = stdin,
                   .colours = wants_colours(),
                   .terminal = isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0,
                   .now = [] { return std::chrono::system_clock::now(); },
                   .steady_now = [] { return std::chrono::steady_clock::now(); },
                   .hold_interrupts = &ctl::hold_interrupts,
                   .interrupted = &ctl::interrupted,
                   .pause = &ctl::pause_for};
  return ctl::run({argv + 1, argv + argc}, shell);
}
