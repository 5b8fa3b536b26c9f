#include "tests/upgrade/notify_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace weir::e2e {

NotifySocket::NotifySocket(At at) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  const auto address =
      net::SocketAddress::from({core::Endpoint::Kind::unix_path, folder_.file("notify"), {}, 0});
  if (::bind(socket_.get(), address.generic(), address.length()) != 0) {
    throw ScriptFailure("cannot bind the notify socket", at);
  }
}

std::string NotifySocket::hear(At at) const {
  pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&watched, 1, static_cast<int>(patience().count())) <= 0) {
    throw ScriptFailure("weir tells its service manager nothing", at);
  }
  std::array<char, 4096> text{};
  const ssize_t got = ::recv(socket_.get(), text.data(), text.size(), 0);
  return {text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

bool NotifySocket::silent() const {
  pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) == 0;
}

}  // namespace weir::e2e
