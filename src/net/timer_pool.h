#pragma once

#include <memory>
#include <vector>

#include "net/uv_handle.h"
#include "weir/net/loop.h"

namespace weir::net {

// Stopped libuv timers, kept for the next Timer: a session costs no handle's making and closing,
// and the loop no turn for close callbacks. Loop thread only.
class TimerPool {
 public:
  using Handle = UvHandle<uv_timer_t>;

  explicit TimerPool(Loop& loop) : loop_(loop) {}

  std::unique_ptr<Handle> take(void* owner) {
    if (free_.empty()) {
      return std::make_unique<Handle>(owner, "uv_timer_init", [this](uv_timer_t* handle) {
        return uv_timer_init(loop_.uv(), handle);
      });
    }
    std::unique_ptr<Handle> handle = std::move(free_.back());
    free_.pop_back();
    handle->get()->data = owner;
    return handle;
  }

  void give_back(std::unique_ptr<Handle> handle) {
    uv_timer_stop(handle->get());
    if (free_.size() < kMost) free_.push_back(std::move(handle));
  }

 private:
  // Enough for the sessions that end and begin at the same time; about 200 KiB.
  static constexpr std::size_t kMost = 1024;

  Loop& loop_;
  std::vector<std::unique_ptr<Handle>> free_;
};

}  // namespace weir::net
