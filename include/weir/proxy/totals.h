#pragma once

#include <array>

#include "weir/core/close_reason.h"
#include "weir/core/counter.h"
#include "weir/net/acceptor.h"

namespace weir::proxy {

// What one listener counted on one worker. Written by the worker, read by any thread.
struct ListenerTotals {
  core::Counter accepted;
  std::array<core::Counter, net::kAcceptErrors> accept_errors;
  std::array<core::Counter, core::kCloseReasons> closed;
  core::Counter bytes_in;   // client to backend
  core::Counter bytes_out;  // backend to client
};

}  // namespace weir::proxy
