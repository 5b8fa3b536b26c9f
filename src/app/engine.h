#pragma once

#include <memory>
#include <vector>

#include "weir/app/serving.h"
#include "weir/app/worker.h"
#include "weir/net/journal.h"
#include "weir/net/loop.h"

namespace weir::app {

// What runs, for those parts of the control side that give it orders. Control thread.
struct Engine {
  net::Loop& control;
  std::vector<std::unique_ptr<Worker>>& workers;
  Serving& serving;
  net::Journal& journal;
  // Once the workers have ended nobody would answer.
  bool ended = false;
  // On its way to its end: nothing begins any more.
  bool draining = false;
};

}  // namespace weir::app
