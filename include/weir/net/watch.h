#pragma once

#include <functional>
#include <memory>

struct uv_poll_s;

namespace weir::net {

class Loop;
template <typename Handle>
class UvHandle;

// Watches a descriptor that belongs to somebody else, for a library that has an epoll set of its
// own: as long as it is readable, its callback is called once a turn. The descriptor outlives the
// watch. The callback must not destroy the watch. Loop thread only.
class Watch {
 public:
  // Throws std::system_error for a descriptor that cannot be polled, a file for instance.
  Watch(Loop& loop, int fd, std::function<void()> on_readable);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::function<void()> on_readable_;
  std::unique_ptr<UvHandle<uv_poll_s>> handle_;
};

}  // namespace weir::net
