#include "weir/net/socket_address.h"

#include <arpa/inet.h>
#include <fmt/compile.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace weir::net {

SocketAddress SocketAddress::from(const core::Endpoint& endpoint) {
  SocketAddress result;
  switch (endpoint.kind) {
    case core::Endpoint::Kind::ipv4:
      if (::inet_pton(AF_INET, endpoint.host.c_str(), &result.storage_.v4.sin_addr) != 1) return {};
      result.storage_.v4.sin_family = AF_INET;
      result.storage_.v4.sin_port = htons(endpoint.port);
      break;
    case core::Endpoint::Kind::ipv6:
      if (::inet_pton(AF_INET6, endpoint.host.c_str(), &result.storage_.v6.sin6_addr) != 1) {
        return {};
      }
      if (!endpoint.zone.empty()) {
        result.storage_.v6.sin6_scope_id = ::if_nametoindex(endpoint.zone.c_str());
        if (result.storage_.v6.sin6_scope_id == 0) return {};
      }
      result.storage_.v6.sin6_family = AF_INET6;
      result.storage_.v6.sin6_port = htons(endpoint.port);
      return from(result.generic(), sizeof result.storage_.v6);  // an IPv4 one in disguise as such
    case core::Endpoint::Kind::unix_path:
      if (endpoint.host.size() >= sizeof result.storage_.un.sun_path) return {};
      result.storage_.un.sun_family = AF_UNIX;
      std::copy(endpoint.host.begin(), endpoint.host.end(), result.storage_.un.sun_path);
      break;
    case core::Endpoint::Kind::name:
      break;
  }
  return result;
}

SocketAddress SocketAddress::from(const sockaddr* address, socklen_t length) {
  SocketAddress result;
  if (address == nullptr || length < sizeof(sa_family_t)) return result;
  std::memcpy(&result.storage_, address, std::min<std::size_t>(length, sizeof result.storage_));
  if (result.family() == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&result.storage_.v6.sin6_addr)) {
    sockaddr_in plain{};
    plain.sin_family = AF_INET;
    plain.sin_port = result.storage_.v6.sin6_port;
    std::memcpy(&plain.sin_addr, &result.storage_.v6.sin6_addr.s6_addr[12], sizeof plain.sin_addr);
    result.storage_ = {};
    result.storage_.v4 = plain;
  }
  return result;
}

SocketAddress SocketAddress::local(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(fd, address, &length) != 0) return {};
  return from(address, length);
}

socklen_t SocketAddress::length() const {
  switch (family()) {
    case AF_INET:
      return sizeof(sockaddr_in);
    case AF_INET6:
      return sizeof(sockaddr_in6);
    case AF_UNIX:
      return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
                                    ::strnlen(storage_.un.sun_path, sizeof storage_.un.sun_path) +
                                    1);
    default:
      return 0;
  }
}

std::uint16_t SocketAddress::port() const {
  if (family() == AF_INET) return ntohs(storage_.v4.sin_port);
  if (family() == AF_INET6) return ntohs(storage_.v6.sin6_port);
  return 0;
}

SocketAddress SocketAddress::with_port(std::uint16_t port) const {
  SocketAddress result = *this;
  if (family() == AF_INET) result.storage_.v4.sin_port = htons(port);
  if (family() == AF_INET6) result.storage_.v6.sin6_port = htons(port);
  return result;
}

std::span<const std::byte> SocketAddress::host_bytes() const {
  if (family() == AF_INET) return std::as_bytes(std::span(&storage_.v4.sin_addr, 1));
  if (family() == AF_INET6) return std::as_bytes(std::span(&storage_.v6.sin6_addr, 1));
  return {};
}

std::optional<core::IpAddress> SocketAddress::ip() const {
  const auto bytes = host_bytes();
  const auto as = [&bytes](auto address) {
    std::memcpy(address.data(), bytes.data(), address.size());
    return core::IpAddress(address);
  };
  switch (family()) {
    case AF_INET:
      return as(core::IpAddress::V4{});
    case AF_INET6:
      return as(core::IpAddress::V6{});
    default:
      return std::nullopt;
  }
}

std::string SocketAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> host{};
  switch (family()) {
    case AF_INET: {
      const std::uint32_t bits = ntohl(storage_.v4.sin_addr.s_addr);
      return fmt::format(FMT_COMPILE("{}.{}.{}.{}:{}"), bits >> 24, (bits >> 16) & 255,
                         (bits >> 8) & 255, bits & 255, port());
    }
    case AF_INET6: {
      ::inet_ntop(AF_INET6, &storage_.v6.sin6_addr, host.data(), host.size());
      std::string zone;
      std::array<char, IF_NAMESIZE> interface {};
      if (storage_.v6.sin6_scope_id != 0) {
        zone = ::if_indextoname(storage_.v6.sin6_scope_id, interface.data()) != nullptr
                   ? "%" + std::string(interface.data())
                   : "%" + std::to_string(storage_.v6.sin6_scope_id);
      }
      return "[" + std::string(host.data()) + zone + "]:" + std::to_string(port());
    }
    case AF_UNIX:
      return "unix:" + std::string(storage_.un.sun_path,
                                   ::strnlen(storage_.un.sun_path, sizeof storage_.un.sun_path));
    default:
      return "";
  }
}

}  // namespace weir::net
