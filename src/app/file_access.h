#pragma once

#include <string>

#include "weir/app/app_options.h"
#include "weir/net/listen_socket.h"

namespace weir::app {

// What `admin.mode` and `admin.owner` come to on this machine. False, and `error` says why, when
// there is no such user or group.
[[nodiscard]] bool look_up_access(const AppOptions& options, net::FileAccess& access,
                                  std::string& error);

}  // namespace weir::app
