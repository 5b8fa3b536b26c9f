#pragma once

#include <functional>
#include <memory>

#include "weir/core/time.h"

struct uv_timer_s;

namespace weir::net {

class Loop;
template <typename Handle>
class UvHandle;

// A one-shot timer. Destroying it cancels it. Never fires early. Moving the deadline later costs
// nothing: the underlying timer fires at the old one and re-arms itself, so that a session may push
// its idle deadline with every read. Resolution: a millisecond. Loop thread only.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> on_fire);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void arm(core::TimePoint at);  // replaces an earlier deadline; kNever cancels
  void cancel();
  bool armed() const { return at_ != core::kNever; }

 private:
  void start(core::TimePoint at);
  void fired();

  Loop& loop_;
  std::function<void()> on_fire_;
  core::TimePoint at_ = core::kNever;       // what the owner asked for
  core::TimePoint started_ = core::kNever;  // what the libuv timer runs for; never later than at_
  std::unique_ptr<UvHandle<uv_timer_s>> handle_;
};

}  // namespace weir::net
