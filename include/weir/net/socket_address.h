#pragma once

#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "weir/core/endpoint.h"
#include "weir/core/ip_address.h"

namespace weir::net {

// A numeric address as the kernel takes it: IPv4, IPv6 or a unix path. An IPv4 address that came
// mapped into IPv6 through a dual-stack listener is kept as the IPv4 address it is.
class SocketAddress {
 public:
  SocketAddress() = default;  // none: family() is AF_UNSPEC

  // From an endpoint that is not a name. A zone that names no interface of this machine gives none.
  static SocketAddress from(const core::Endpoint& endpoint);
  static SocketAddress from(const sockaddr* address, socklen_t length);

  // The local address of a socket; none on failure.
  static SocketAddress local(int fd);

  int family() const { return generic()->sa_family; }
  explicit operator bool() const { return family() != AF_UNSPEC; }
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const;
  std::uint16_t port() const;
  SocketAddress with_port(std::uint16_t port) const;

  // The bytes that identify the host, for hashing: 4, 16, or none for a unix socket.
  std::span<const std::byte> host_bytes() const;
  // The same as a value; none for a unix socket.
  std::optional<core::IpAddress> ip() const;

  // As written in the configuration: `127.0.0.1:5432`, `[fe80::1%eth0]:5432`, `unix:/path`. A unix
  // client has no path of its own and reads `unix:`.
  std::string text() const;

 private:
  // The largest first: {} clears the first member only, and a unix path ends with a zero.
  union Storage {
    sockaddr_un un;
    sockaddr_in6 v6;
    sockaddr_in v4;
  };
  Storage storage_{};
};

}  // namespace weir::net
