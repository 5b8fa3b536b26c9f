#include "weir/net/timer.h"

#include <uv.h>

#include <utility>

#include "net/uv_handle.h"
#include "weir/net/loop.h"

namespace weir::net {

struct Timer::Handle : UvHandle<uv_timer_t> {
  using UvHandle::UvHandle;
};

Timer::Timer(Loop& loop, std::function<void()> on_fire)
    : loop_(loop),
      on_fire_(std::move(on_fire)),
      handle_(std::make_unique<Handle>(this, "uv_timer_init", [&loop](uv_timer_t* handle) {
        return uv_timer_init(loop.uv(), handle);
      })) {}

Timer::~Timer() = default;

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
  // Rounded up, so that most timers need no second start; fired() checks what is left anyway,
  // because libuv counts from its own, possibly older, idea of now.
  const auto rounded = std::chrono::ceil<milliseconds>(
      wait < core::Duration::zero() ? core::Duration::zero() : wait);
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
