#include "weir/net/timer.h"

#include <uv.h>

#include <algorithm>
#include <utility>

#include "net/timer_pool.h"
#include "weir/net/loop.h"

namespace weir::net {

Timer::Timer(Loop& loop, std::function<void()> on_fire)
    : loop_(loop), on_fire_(std::move(on_fire)), handle_(loop.timers().take(this)) {}

Timer::~Timer() { loop_.timers().give_back(std::move(handle_)); }

void Timer::arm(core::TimePoint at) {
  at_ = at;
  if (at == core::kNever) {
    cancel();
  } else if (started_ > at) {  // kNever, or a later one than wanted now
    start(at);
  }
}

void Timer::cancel() {
  at_ = core::kNever;
  if (started_ == core::kNever) return;
  started_ = core::kNever;
  uv_timer_stop(handle_->get());
}

void Timer::start(core::TimePoint at) {
  using std::chrono::milliseconds;
  const core::Duration wait = at - loop_.now();
  // Rounded up. fired() checks what is left, because libuv counts from its own, possibly older,
  // idea of now: a timer that was started after a long wait fires early once. At least one:
  // libuv 1.44 stays in its round of timers while one is due, so one that is due whenever it fires
  // would starve all.
  const auto rounded = std::max(std::chrono::ceil<milliseconds>(wait), milliseconds(1));
  started_ = at;
  uv_timer_start(
      handle_->get(),
      [](uv_timer_t* handle) {
        if (handle->data != nullptr) static_cast<Timer*>(handle->data)->fired();
      },
      static_cast<std::uint64_t>(rounded.count()), 0);
}

void Timer::fired() {
  started_ = core::kNever;
  const core::TimePoint now = loop_.refresh_now();
  if (at_ == core::kNever) return;
  if (now < at_) {
    start(at_);
    return;
  }
  at_ = core::kNever;
  on_fire_();
}

}  // namespace weir::net
