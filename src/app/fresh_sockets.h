#pragma once

#include <set>
#include <vector>

#include "weir/app/worker.h"

namespace weir::app {

// Sockets of an upgrade that are bound and do not listen yet.
struct FreshSockets {
  std::vector<Worker::Change> changes;  // by worker
  std::set<proxy::AddressId> served;    // their addresses where others listen already

  // Taken out of what the workers begin with.
  static FreshSockets take(std::vector<Worker::Change>& first);
  // Lets them listen. It is too late to go back: what cannot is an error in the log and left out.
  // Answers the addresses that nobody listens at now.
  std::set<proxy::AddressId> listen();
};

}  // namespace weir::app
