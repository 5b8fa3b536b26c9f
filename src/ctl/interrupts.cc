#include "ctl/interrupts.h"

#include <poll.h>

#include <csignal>
#include <ctime>

namespace weir::ctl {
namespace {

volatile std::sig_atomic_t pressed = 0;

}  // namespace

void hold_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { pressed = 1; };
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no restart: whoever waits wakes
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return pressed != 0; }

bool pause_for(std::chrono::milliseconds duration) {
  // Blocked between the question and the wait, so that it cannot fall between them.
  sigset_t interrupt;
  sigset_t before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, &before);
  if (!interrupted()) {
    const timespec wait{static_cast<std::time_t>(duration.count() / 1000),
                        static_cast<long>(duration.count() % 1000) * 1'000'000};
    ppoll(nullptr, 0, &wait, &before);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return !interrupted();
}

}  // namespace weir::ctl
