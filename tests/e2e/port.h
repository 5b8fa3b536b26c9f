#pragma once

#include <cstdint>
#include <string>

#include "tests/e2e/peer.h"

namespace weir::e2e {

// A TCP port for a program to listen on: free when this is made, not one that the kernel gives out
// by itself, and of no other test on this machine while this lives.
class Port {
 public:
  Port();

  std::uint16_t number() const { return number_; }
  // `HOST:PORT`; HOST is written as in an address, with its brackets.
  std::string on(const std::string& host = "127.0.0.1") const;
  net::SocketAddress address(const std::string& host = "127.0.0.1") const;

 private:
  bool claim(std::uint16_t number);

  std::uint16_t number_ = 0;
  PeerDescriptor claim_;
};

}  // namespace weir::e2e
