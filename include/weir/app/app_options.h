#pragma once

#include <optional>
#include <string>

#include "weir/core/endpoint.h"
#include "weir/core/time.h"
#include "weir/net/log_options.h"

namespace weir::app {

// The keys of the file that belong to the process rather than to a listener or a pool.
struct AppOptions {
  int workers = 0;  // data threads; 0 = `auto`, the CPUs this process may use
  std::string admin_socket = "/run/weir/admin.sock";  // at most 107 bytes; empty = none
  unsigned admin_mode = 0600;  // of that socket; the owner's rw is always set
  std::string admin_owner;     // `user`, `user:group`, `:group`; empty = whoever weir runs as
  std::optional<core::Endpoint> http_listen;  // no name; overlaps no listener; none = no HTTP
  net::LogOptions log;
  std::string access_log = "stdout";  // `stdout`, `off`, or a file's path
  core::Duration shutdown_deadline =
      std::chrono::seconds(30);  // how long a drain may take; 0 = no bound
  bool operator==(const AppOptions&) const = default;
};

}  // namespace weir::app
