#include "tests/e2e/port.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <random>

namespace weir::e2e {
namespace {

// Below what the kernel takes local ports from, above what services of a machine have.
constexpr std::uint16_t kLowest = 20000;
constexpr std::uint16_t kHighest = 32000;

// Whether nobody has the port, over IPv4 and IPv6.
bool is_free(std::uint16_t number) {
  const PeerDescriptor probe(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(number);
  return ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0 &&
         ::listen(probe.get(), 1) == 0;
}

}  // namespace

Port::Port() {
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> any(kLowest, kHighest);
  for (int i = 0; i < 1000; ++i) {
    if (claim(any(random))) return;
  }
  throw ScriptFailure("no free port", At::here());
}

// The claim among tests is an abstract unix name, which goes with its process however that ends.
bool Port::claim(std::uint16_t number) {
  const std::string name = fmt::format("weir-e2e-port-{}", number);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[1], name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  PeerDescriptor claim(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(claim.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return false;
  if (!is_free(number)) return false;
  claim_ = std::move(claim);
  number_ = number;
  return true;
}

std::string Port::on(const std::string& host) const { return fmt::format("{}:{}", host, number_); }

net::SocketAddress Port::address(const std::string& host) const {
  const core::EndpointResult parsed = core::parse_endpoint(on(host));
  if (!parsed) throw ScriptFailure(parsed.error, At::here());
  return net::SocketAddress::from(parsed.endpoint);
}

}  // namespace weir::e2e
