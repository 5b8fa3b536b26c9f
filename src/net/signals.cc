#include "weir/net/signals.h"

#include <uv.h>

#include <utility>

#include "net/uv_handle.h"
#include "weir/net/loop.h"

namespace weir::net {

HeldSignals::HeldSignals(std::initializer_list<int> numbers) {
  ::sigemptyset(&held_);
  for (const int number : numbers) ::sigaddset(&held_, number);
  ::pthread_sigmask(SIG_BLOCK, &held_, nullptr);
}

HeldSignals::~HeldSignals() { ::pthread_sigmask(SIG_UNBLOCK, &held_, nullptr); }

void ignore_signals(std::initializer_list<int> numbers) {
  for (const int number : numbers) std::signal(number, SIG_IGN);
}

struct Signals::Handle : UvHandle<uv_signal_t> {
  using UvHandle::UvHandle;
};

Signals::Signals(Loop& loop, std::initializer_list<int> numbers, std::function<void(int)> on_signal)
    : on_signal_(std::move(on_signal)) {
  for (const int number : numbers) {
    handles_.push_back(std::make_unique<Handle>(
        this, "uv_signal_init",
        [&loop](uv_signal_t* handle) { return uv_signal_init(loop.uv(), handle); }));
    require(uv_signal_start(
                handles_.back()->get(),
                [](uv_signal_t* handle, int caught) {
                  if (handle->data != nullptr) {
                    static_cast<Signals*>(handle->data)->on_signal_(caught);
                  }
                },
                number),
            "uv_signal_start");
  }
}

Signals::~Signals() = default;

}  // namespace weir::net
