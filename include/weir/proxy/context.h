#pragma once

#include <cstdint>
#include <span>

#include "weir/core/random.h"
#include "weir/net/descriptor_budget.h"
#include "weir/net/line_log.h"
#include "weir/net/loop.h"
#include "weir/net/wall_clock.h"
#include "weir/upstream/connector.h"
#include "weir/upstream/lone_dials.h"

namespace weir::proxy {

class SessionTable;

// What a worker gives to each of its sessions; outlives them all.
struct Context {
  net::Loop& loop;
  upstream::DialContext dial;
  net::DescriptorBudget& descriptors;
  net::LineLog::Lane& access_log;
  net::WallClock& clock;
  std::span<char> scratch;  // shared by all sessions: valid within one call only
  core::Rng& rng;
  std::size_t worker;
  SessionTable& sessions;
  upstream::LoneDials& lone_dials;
  std::uint64_t config_generation = 1;  // that new sessions are served by
};

}  // namespace weir::proxy
