#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "weir/app/serving.h"
#include "weir/app/worker.h"
#include "weir/net/journal.h"
#include "weir/net/loop.h"

namespace weir::app {

// What runs, for those parts of the control side that give it orders. Control thread.
struct Engine {
  // Asks each worker, all at once, and waits until each has done it; with their answers, if there
  // are any.
  template <typename Ask>
  auto of_all_workers(const Ask& ask) const {
    using Asked = decltype(ask(*workers.front()));
    using Answer = decltype(std::declval<Asked&>().get());
    std::vector<Asked> asked;
    for (const auto& worker : workers) asked.push_back(ask(*worker));
    if constexpr (std::is_void_v<Answer>) {
      for (Asked& each : asked) each.get();
    } else {
      std::vector<Answer> answers;
      for (Asked& each : asked) answers.push_back(each.get());
      return answers;
    }
  }

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
