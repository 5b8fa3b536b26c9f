#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <vector>

#include "tests/e2e/peer.h"

namespace weir::e2e {

// Short sessions one after the other, on several threads, until stop(): each client asks a Service
// one byte, and leaves when it has the echo or meets an end. A connect that is refused fails the
// script.
class Traffic {
 public:
  struct Tally {
    std::size_t served = 0;
    std::size_t ended = 0;  // in good order, without a byte
    std::size_t reset = 0;

    std::size_t clients() const { return served + ended + reset; }
  };

  // `pause` between two clients of one thread: with a shorter one, a weir which refuses at once
  // takes the whole machine.
  Traffic(const net::SocketAddress& to, std::size_t threads, milliseconds pause = 1ms);
  ~Traffic() { stopped_ = true; }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  // Waits until so many more have been served.
  void wait_for_served(std::size_t more, At at = At::here()) const;
  Tally stop();

 private:
  Tally run(const net::SocketAddress& to, milliseconds pause);

  std::atomic<bool> stopped_{false};
  std::atomic<std::size_t> served_{0};
  std::vector<std::future<Tally>> threads_;  // last: they use what is above
};

}  // namespace weir::e2e
