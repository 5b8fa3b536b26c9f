#include "tests/e2e/traffic.h"

#include <sys/socket.h>

namespace weir::e2e {

Traffic::Traffic(const net::SocketAddress& to, std::size_t threads, milliseconds pause) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.push_back(meanwhile([this, to, pause] { return run(to, pause); }));
  }
}

Traffic::Tally Traffic::run(const net::SocketAddress& to, milliseconds pause) {
  Tally tally;
  for (; !stopped_; silence(pause)) {
    Stream client = Stream::connect(to);
    // A session may be over before the client has said anything.
    if (::send(client.fd(), "q", 1, MSG_NOSIGNAL) != 1) {
      ++tally.reset;
      continue;
    }
    switch (client.hear_or_ending("q")) {
      case Heard::text:
        ++tally.served;
        ++served_;
        break;
      case Heard::end:
        ++tally.ended;
        break;
      case Heard::reset:
        ++tally.reset;
        break;
    }
  }
  return tally;
}

void Traffic::wait_for_served(std::size_t more, At at) const {
  const std::size_t wanted = served_ + more;
  for (const auto until = Clock::now() + patience(); served_ < wanted; silence(1ms)) {
    if (Clock::now() >= until) throw ScriptFailure("clients are not served", at);
  }
}

Traffic::Tally Traffic::stop() {
  stopped_ = true;
  Tally all;
  for (auto& each : threads_) {
    const Tally tally = each.get();
    all.served += tally.served;
    all.ended += tally.ended;
    all.reset += tally.reset;
  }
  return all;
}

}  // namespace weir::e2e
