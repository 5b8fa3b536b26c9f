#pragma once

#include <cstdint>
#include <list>

#include "weir/net/loop.h"
#include "weir/net/socket_address.h"
#include "weir/net/timer.h"

namespace weir::app {

// A few clients a second, so that there is something to see: each says a line, waits for an answer,
// stays for a moment and leaves. Stops for good when nobody listens any more. Loop thread only.
class DemoTraffic {
 public:
  DemoTraffic(net::Loop& loop, const net::SocketAddress& to);
  ~DemoTraffic();

 private:
  class Client;

  void next();

  net::Loop& loop_;
  const net::SocketAddress to_;
  std::uint64_t count_ = 0;
  std::list<Client> clients_;
  net::Timer timer_;
};

}  // namespace weir::app
