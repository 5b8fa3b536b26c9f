#pragma once

#include <vector>

#include "weir/app/app_options.h"
#include "weir/proxy/listener_options.h"
#include "weir/upstream/pool_options.h"

namespace weir::config {

// One file, read, validated and with all defaults filled in. Immutable once loaded.
struct Configuration {
  app::AppOptions app;
  std::vector<proxy::ListenerOptions> listeners;
  std::vector<upstream::PoolOptions> pools;
  bool operator==(const Configuration&) const = default;
};

}  // namespace weir::config
