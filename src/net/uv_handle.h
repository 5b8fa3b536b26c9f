#pragma once

#include <uv.h>

#include <system_error>
#include <utility>

namespace weir::net {

// Throws for a libuv call that fails only when the process itself is in trouble at start-up.
inline void require(int status, const char* what) {
  if (status < 0) throw std::system_error(-status, std::generic_category(), what);
}

// A libuv handle in a heap block of its own. libuv needs the block until its close callback, which
// comes in a later turn, when the owner is long gone: the destructor only asks for the close, and
// the callback frees the block without looking for an owner. Lives on its loop's thread.
template <typename Handle>
class UvHandle {
 public:
  // `init` is the uv_*_init call; `owner` becomes handle->data for the callbacks.
  template <typename Init>
  UvHandle(void* owner, const char* what, Init&& init) : handle_(new Handle) {
    if (const int status = std::forward<Init>(init)(handle_); status < 0) {
      delete handle_;
      require(status, what);
    }
    handle_->data = owner;
  }
  UvHandle(const UvHandle&) = delete;
  UvHandle& operator=(const UvHandle&) = delete;
  ~UvHandle() {
    handle_->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(handle_),
             [](uv_handle_t* closed) { delete reinterpret_cast<Handle*>(closed); });
  }

  Handle* get() { return handle_; }

 private:
  Handle* handle_;
};

}  // namespace weir::net
