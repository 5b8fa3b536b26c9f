#pragma once

#include "weir/net/socket_address.h"

namespace weir::e2e {

// While it lives, the kernel refuses every connect of this process to this address with this error:
// what no test can bring about by itself on a machine that others use, such as a lack of local
// ports. For that, connect() is the tests' own in this executable. One at a time.
class ConnectRefusal {
 public:
  ConnectRefusal(const net::SocketAddress& to, int error);
  ~ConnectRefusal();
  ConnectRefusal(const ConnectRefusal&) = delete;
  ConnectRefusal& operator=(const ConnectRefusal&) = delete;
};

// While it lives, this process can open no descriptor (EMFILE), and poll() one at most.
class NoDescriptors {
 public:
  NoDescriptors();
  ~NoDescriptors();
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  unsigned long before_;
};

}  // namespace weir::e2e
