#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/core/dial_outcome.h"
#include "weir/core/time.h"

namespace weir::proxy {

// Where a session is on its way; the words of the API.
enum class SessionState : std::uint8_t { accepted, queued, dialling, relaying, parting };

std::string_view name(SessionState state);

// One live session as an observer sees it.
struct SessionView {
  struct Attempt {
    std::string backend;
    std::string address;
    core::DialOutcome outcome = core::DialOutcome::connected;
    core::Duration took{0};
  };

  std::uint64_t id = 0;
  std::string listener;
  std::string client;
  std::string pool;
  std::string backend;  // empty until one is connected
  SessionState state = SessionState::accepted;
  core::Duration age{0};
  std::uint64_t bytes_in = 0;  // client to backend
  std::uint64_t bytes_out = 0;
  std::vector<Attempt> attempts;  // those that have ended
};

// Which sessions are meant; what is empty says nothing.
struct SessionFilter {
  std::string listener;
  std::string pool;
  std::string backend;
};

}  // namespace weir::proxy
