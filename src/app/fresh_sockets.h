#pragma once

#include <vector>

#include "weir/app/worker.h"

namespace weir::app {

// Sockets of an upgrade that are bound and do not listen yet, by worker, taken out of what the
// workers begin with.
std::vector<Worker::Change> take_fresh(std::vector<Worker::Change>& first);

// Lets them listen. It is too late to go back: what cannot is an error in the log and left out.
void listen_on(std::vector<Worker::Change>& fresh);

}  // namespace weir::app
