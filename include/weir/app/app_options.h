#pragma once

#include <string>

#include "weir/core/time.h"
#include "weir/net/log_options.h"

namespace weir::app {

// The keys of the file that belong to the process rather than to a listener or a pool.
struct AppOptions {
  int workers = 0;  // data threads; 0 = `auto`, the CPUs this process may use
  net::LogOptions log;
  std::string access_log = "stdout";  // `stdout`, `off`, or a file's path
  core::Duration shutdown_deadline =
      std::chrono::seconds(30);  // how long a drain may take; 0 = no bound
};

}  // namespace weir::app
