#include "tests/e2e/kernel_refusal.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace weir::e2e {
namespace {

std::mutex mutex;  // guards what follows
net::SocketAddress refused;
int refused_with = 0;

// 0 = nothing.
int refusal_of(const sockaddr* to, socklen_t length) {
  const std::lock_guard lock(mutex);
  if (refused_with == 0 || length != refused.length()) return 0;
  return std::memcmp(to, refused.generic(), length) == 0 ? refused_with : 0;
}

void set_refusal(const net::SocketAddress& to, int error) {
  const std::lock_guard lock(mutex);
  refused = to;
  refused_with = error;
}

rlimit descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

void limit_descriptors(rlim_t soft) {
  rlimit limit = descriptor_limit();
  limit.rlim_cur = soft;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw std::runtime_error("setrlimit");
}

}  // namespace

ConnectRefusal::ConnectRefusal(const net::SocketAddress& to, int error) { set_refusal(to, error); }

ConnectRefusal::~ConnectRefusal() { set_refusal({}, 0); }

// Descriptor 0 is open, so that with a limit of one none is free.
NoDescriptors::NoDescriptors() : before_(descriptor_limit().rlim_cur) { limit_descriptors(1); }

NoDescriptors::~NoDescriptors() { limit_descriptors(before_); }

}  // namespace weir::e2e

extern "C" int connect(int fd, const sockaddr* to, socklen_t length) {
  if (const int error = weir::e2e::refusal_of(to, length)) {
    errno = error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_connect, fd, to, length));
}
