#pragma once

#include <cstddef>
#include <vector>

#include "tests/e2e/peer.h"

namespace weir::e2e {

// Clients of a pool that serves some of them at a time: each has asked a Service for an echo, and
// is served, waits, or is refused.
class Crowd {
 public:
  void come(const net::SocketAddress& to, std::size_t more, At at = At::here());
  // Waits for one who has the answer, whoever that is, and sends it away.
  void send_away_one(At at = At::here());
  // Waits until so many have met an end without an answer, and forgets them.
  void expect_refused(std::size_t count, At at = At::here());
  std::size_t size() const { return clients_.size(); }

 private:
  std::vector<Stream> clients_;
};

}  // namespace weir::e2e
