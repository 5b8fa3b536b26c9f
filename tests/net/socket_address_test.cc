#include "weir/net/socket_address.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "tests/net/peer.h"

using namespace weir;
using namespace weir::net;

TEST_CASE("an address reads as it is written in the configuration") {
  for (const char* text :
       {"127.0.0.1:5432", "[::1]:5432", "[2001:db8::7]:65535", "unix:/run/postgresql/x"}) {
    CAPTURE(text);
    CHECK(address_of(text).text() == text);
  }
  CHECK(address_of("127.0.0.1:5432").family() == AF_INET);
  CHECK(address_of("[::1]:5432").family() == AF_INET6);
  CHECK(address_of("unix:/x").family() == AF_UNIX);
}

TEST_CASE("NET-02: a zone is kept and shown, and one that names no interface gives no address") {
  const SocketAddress local = address_of("[fe80::1%lo]:5432");
  REQUIRE(local);
  CHECK(local.text() == "[fe80::1%lo]:5432");
  sockaddr_in6 raw{};
  std::memcpy(&raw, local.generic(), sizeof raw);
  CHECK(raw.sin6_scope_id == 1);
  CHECK_FALSE(address_of("[fe80::1%nosuchif]:5432"));
}

TEST_CASE("NET-02: a zone whose interface has gone since is shown by its number") {
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  raw.sin6_port = htons(5432);
  REQUIRE(::inet_pton(AF_INET6, "fe80::1", &raw.sin6_addr) == 1);
  raw.sin6_scope_id = 999999;
  CHECK(SocketAddress::from(reinterpret_cast<const sockaddr*>(&raw), sizeof raw).text() ==
        "[fe80::1%999999]:5432");
}

TEST_CASE("an IPv4 client of a dual-stack listener is the IPv4 address it is") {
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  raw.sin6_port = htons(777);
  REQUIRE(::inet_pton(AF_INET6, "::ffff:192.0.2.1", &raw.sin6_addr) == 1);
  const auto mapped = SocketAddress::from(reinterpret_cast<const sockaddr*>(&raw), sizeof raw);
  CHECK(mapped.family() == AF_INET);
  CHECK(mapped.text() == "192.0.2.1:777");
  CHECK(mapped.port() == 777);
  CHECK(mapped.host_bytes().size() == 4);
}

TEST_CASE("an address takes another port") {
  CHECK(loopback(1).with_port(8080).text() == "127.0.0.1:8080");
  CHECK(address_of("[::1]:1").with_port(8080).text() == "[::1]:8080");
  CHECK(address_of("unix:/x").with_port(8080).text() == "unix:/x");
  CHECK(address_of("unix:/x").port() == 0);
}

TEST_CASE("the bytes of a host leave the port out, so that a client hashes alike every time") {
  const auto same = [](const SocketAddress& a, const SocketAddress& b) {
    const auto left = a.host_bytes();
    const auto right = b.host_bytes();
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  };
  const SocketAddress one = loopback(1);
  CHECK(one.host_bytes().size() == 4);
  CHECK(same(one, one.with_port(2)));
  CHECK_FALSE(same(one, loopback(1, "127.0.0.2")));
  CHECK(address_of("[::1]:1").host_bytes().size() == 16);
  CHECK(address_of("unix:/x").host_bytes().empty());
}

TEST_CASE("names have no address, and unix paths that do not fit have none either") {
  core::Endpoint endpoint;
  endpoint.kind = core::Endpoint::Kind::name;
  endpoint.host = "db.internal";
  CHECK_FALSE(SocketAddress::from(endpoint));
  endpoint.kind = core::Endpoint::Kind::unix_path;
  endpoint.host = "/" + std::string(106, 'x');
  CHECK(SocketAddress::from(endpoint).text() == "unix:" + endpoint.host);
  CHECK(SocketAddress::from(endpoint).length() == sizeof(sockaddr_un));
  endpoint.host += 'x';
  CHECK_FALSE(SocketAddress::from(endpoint));
}

TEST_CASE("no address has no family, no length and no text") {
  const SocketAddress none;
  CHECK_FALSE(none);
  CHECK(none.length() == 0);
  CHECK(none.text().empty());
  CHECK_FALSE(SocketAddress::local(-1));
  CHECK_FALSE(SocketAddress::from(nullptr, 0));
}

TEST_CASE("the local address of a socket is where it is bound") {
  const Backlog listening(loopback(0, "127.0.0.9"));
  const SocketAddress local = SocketAddress::local(listening.fd());
  CHECK(local.port() != 0);
  CHECK(local.text() == "127.0.0.9:" + std::to_string(local.port()));
}
