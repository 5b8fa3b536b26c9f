#pragma once

#include <string>
#include <vector>

#include "tests/e2e/folder.h"
#include "tests/e2e/peer.h"

namespace weir::e2e {

// What a service manager has for those it watches: a socket that they tell their state.
class NotifySocket {
 public:
  explicit NotifySocket(At at = At::here());

  std::string variable() const { return "NOTIFY_SOCKET=" + folder_.file("notify"); }
  // The next message, as it is: `READY=1\nMAINPID=7`.
  std::string hear(At at = At::here()) const;
  bool silent() const;

 private:
  const Folder folder_;
  PeerDescriptor socket_;
};

}  // namespace weir::e2e
