#pragma once

#include "ctl/call.h"
#include "ctl/journal.h"

namespace weir::ctl {

int events(const Call& call);

// One poll of the journal for somebody who follows it over weir's restarts.
class Follower {
 public:
  explicit Follower(std::uint64_t since) : journal_(since) {}

  struct Step {
    std::vector<Json> events = {};
    std::vector<std::string> notices = {};  // what the reader has to know about gaps
    Reply reply = {};                       // of the request for events
  };
  Step poll(Client& client);

 private:
  // Notes which process answers. Says so when it is another one than before.
  void recognise(Client& client, Step& step);

  Journal journal_;
  std::uint64_t pid_ = 0;  // 0 = not known
  bool away_ = true;       // the last request failed
  bool answered_ = false;  // one did not
};

}  // namespace weir::ctl
