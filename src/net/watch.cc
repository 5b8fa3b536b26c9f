#include "weir/net/watch.h"

#include <uv.h>

#include <utility>

#include "net/uv_handle.h"
#include "weir/net/loop.h"

namespace weir::net {

Watch::Watch(Loop& loop, int fd, std::function<void()> on_readable)
    : on_readable_([&loop, call = std::move(on_readable)] {
        loop.refresh_now();
        call();
      }),
      handle_(std::make_unique<UvHandle<uv_poll_t>>(
          this, "uv_poll_init",
          [&loop, fd](uv_poll_t* handle) { return uv_poll_init(loop.uv(), handle, fd); })) {
  require(uv_poll_start(handle_->get(), UV_READABLE,
                        [](uv_poll_t* handle, int, int) {
                          if (handle->data != nullptr) {
                            static_cast<Watch*>(handle->data)->on_readable_();
                          }
                        }),
          "uv_poll_start");
}

Watch::~Watch() = default;

}  // namespace weir::net
