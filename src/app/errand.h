#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/proxy/session_view.h"

// What the new process asks of one that still drains, in an operator's name, and what comes back.
namespace weir::app {

struct Errand {
  enum class Kind : std::uint8_t {
    sessions,      // up to `most` of those that `filter` means
    session,       // the one with this id
    kill_session,  // likewise
    end_sessions,  // those on a backend, for `reason`
    set_duty,      // whether a backend takes those that still wait there
    give,          // of `pool`, what another process that drains has left: it is for who waits here
  };

  Kind kind = Kind::sessions;
  std::uint64_t asked = 0;  // the answer has it too: it may come when nobody waits for it any more
  proxy::SessionFilter filter;  // of one backend both pool and backend
  std::uint64_t most = 0;
  std::uint64_t id = 0;
  std::string reason;
  bool takes_sessions = true;
  // Of a gift, which is not answered, but confirmed by the next report.
  struct Places {
    std::string backend;
    std::string address;
    std::uint32_t places = 0;
  };
  std::uint64_t number = 0;  // from 1
  std::uint32_t slots = 0;
  std::vector<Places> places;
};

struct Answer {
  std::uint64_t asked = 0;
  std::vector<proxy::SessionView> sessions;
  std::uint64_t ended = 0;
};

std::string text(const Errand& errand);
std::string text(const Answer& answer);

// Throw std::exception where the text is nothing of the kind.
Errand read_errand(const std::string& text);
Answer read_answer(const std::string& text);
// Among the messages of one that drains, which are reports otherwise.
bool is_answer(const std::string& text);

}  // namespace weir::app
