#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "weir/core/close_reason.h"
#include "weir/core/time.h"
#include "weir/net/wall_clock.h"
#include "weir/upstream/connector.h"

namespace weir::proxy {

// What the access log says of one session. Fields that do not apply are left out of the line.
struct AccessEntry {
  std::uint64_t session = 0;
  std::string_view listener;
  std::string client;
  std::string_view pool;
  std::span<const upstream::Attempt> attempts;
  core::Duration queue{0};                            // waited for a slot
  core::Duration connect = core::Duration::min();     // min = never connected
  core::Duration first_byte = core::Duration::min();  // min = none came
  core::Duration duration{0};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  core::CloseReason reason = core::CloseReason::client_closed;
  std::uint64_t config_generation = 1;
};

// Appends the line, one JSON object and '\n'. `ts` is the time of writing, the session's end.
void append(std::string& to, const AccessEntry& entry, net::WallClock& clock);

}  // namespace weir::proxy
