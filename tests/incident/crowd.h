#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/e2e/peer.h"

namespace weir::e2e {

// Clients that come at a rate of their own, whatever becomes of those before them. Each wants one
// answer within its deadline, and connects again when a connection ends without it; at its deadline
// it gives up, by a reset.
class Crowd {
 public:
  struct Load {
    milliseconds lasts;
    double per_second;
  };
  // What became of those that came within one slice of time.
  struct Slice {
    std::size_t came = 0;
    std::size_t answered = 0;
    double share() const;
  };
  struct Patience {
    milliseconds deadline;
    milliseconds pause;  // at least, between the begins of two connections
  };

  Crowd(const net::SocketAddress& to, const Patience& patience, milliseconds slice);

  // From the first client to the last one's end. `look` is called every few milliseconds.
  std::vector<Slice> run(const std::vector<Load>& loads, const std::function<void()>& look);

 private:
  struct Client {
    std::size_t slice;
    Clock::time_point gives_up;
    Clock::time_point began;  // the connection
    PeerDescriptor socket;    // none between two connections
    bool asked = false;
    bool over = false;
  };

  void come(Clock::time_point now, std::size_t slice);
  void connect(Client& client, Clock::time_point now);
  void turn(Client& client, Clock::time_point now, short events);

  const net::SocketAddress to_;
  const Patience patience_;
  const milliseconds slice_;
  std::vector<Client> clients_;
  std::vector<Slice> slices_;
};

}  // namespace weir::e2e
