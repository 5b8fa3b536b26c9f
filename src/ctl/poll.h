#pragma once

#include "ctl/call.h"
#include "ctl/events.h"
#include "ctl/screen.h"

namespace weir::ctl {

// Keeps the live screen's view up to date.
class Poll {
 public:
  explicit Poll(const Call& call) : call_(call) {}

  // Asks once. When that fails, the view keeps what it has and says why; answers whether it did
  // not.
  bool run();
  const View& view() const { return view_; }
  // A frame made of the view as it is.
  std::vector<Line> frame(ScreenSize size) const;
  // As one that failed.
  const Reply& failed() const { return failed_; }

 private:
  bool ask(const std::string& target, Json& answer);

  const Call& call_;
  View view_;
  Follower follower_{0};
  Reply failed_;
};

}  // namespace weir::ctl
