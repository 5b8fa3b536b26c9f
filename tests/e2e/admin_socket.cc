#include "tests/e2e/admin_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tests/e2e/peer.h"

namespace weir::e2e {
namespace {

std::string exchange(const std::string& path, const std::string& text, At at) {
  const auto address = net::SocketAddress::from({core::Endpoint::Kind::unix_path, path, {}, 0});
  const PeerDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval bound{.tv_sec = patience().count() / 1000, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
  const auto failed = [&](const char* what) {
    return ScriptFailure(fmt::format("admin socket: {}: {}", what, std::strerror(errno)), at);
  };
  if (::connect(socket.get(), address.generic(), address.length()) != 0) throw failed("connect");
  if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) throw failed("send");
  std::string answer;
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got < 0) throw failed("receive");
    if (got == 0) return answer;
    answer.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string ask_admin(const std::string& path, const std::string& request, const std::string& body,
                      At at) {
  const std::string answer = exchange(
      path,
      fmt::format("{} HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                  request, body.size(), body),
      at);
  const auto head = answer.find("\r\n\r\n");
  if (head == std::string::npos || answer.compare(0, 13, "HTTP/1.1 200 ") != 0) {
    throw ScriptFailure(fmt::format("{} was answered with '{}'", request, answer), at);
  }
  return answer.substr(head + 4);
}

Json ask_json(const std::string& path, const std::string& request, const std::string& body, At at) {
  return JsonReader::read(ask_admin(path, request, body, at));
}

pid_t serving_at(const std::string& path, At at) {
  return static_cast<pid_t>(ask_json(path, "GET /v1/status", {}, at)["pid"].count());
}

}  // namespace weir::e2e
