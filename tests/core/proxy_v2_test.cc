#include "core/proxy_v2.h"

#include <doctest/doctest.h>

#include "tests/core/proxy_bytes.h"

using namespace weir::core;
using State = ProxyParse::State;

namespace {

constexpr int kProxyCommand = 0x21;
constexpr int kLocalCommand = 0x20;

// 2001:db8::1 port 513 to 2001:db8::2 port 443.
std::string v6_addresses() {
  return from_hex(
      "20010db8 00000000 00000000 00000001"
      "20010db8 00000000 00000000 00000002"
      "0201 01bb");
}

std::string padded(std::string path) {
  path.resize(kProxyPathLimit);
  return path;
}

}  // namespace

TEST_CASE("a header of version 2 gives the addresses and ports of an IPv4 client") {
  const ProxyHeader header =
      parsed(from_hex("0d0a0d0a 000d0a51 5549540a 21 11 000c c0000201 c6336402 1234 01bb"));
  CHECK(header.command == ProxyHeader::Command::proxy);
  CHECK(header.transport == ProxyHeader::Transport::tcp);
  CHECK(header.source == ip_endpoint("192.0.2.1", 0x1234));
  CHECK(header.destination == ip_endpoint("198.51.100.2", 443));
  CHECK(header.speaks_for_client());
}

TEST_CASE("a header of version 2 gives the addresses and ports of an IPv6 client") {
  const ProxyHeader header = parsed(v2(kProxyCommand, 0x21, v6_addresses()));
  CHECK(header.source == ip_endpoint("2001:db8::1", 513));
  CHECK(header.destination == ip_endpoint("2001:db8::2", 443));
}

TEST_CASE("a header of version 2 gives the paths of a unix client, up to their NUL or 108 bytes") {
  const std::string full(kProxyPathLimit, 'p');
  ProxyHeader header = parsed(v2(kProxyCommand, 0x31, padded("/run/client") + full));
  CHECK(header.transport == ProxyHeader::Transport::unix_stream);
  CHECK(header.source_path == "/run/client");
  CHECK(header.destination_path == full);
  CHECK(header.source == IpEndpoint{});

  using namespace std::string_literals;
  header = parsed(v2(kProxyCommand, 0x31, padded("/a\0left over"s) + padded("\0abstract"s)));
  CHECK(header.source_path == "/a");
  CHECK(header.destination_path.empty());
}

TEST_CASE("LOCAL is the proxy's own connection, whatever else the header says") {
  for (const int family : {0x00, 0x11, 0x31, 0x99, 0xff}) {
    for (const std::string& rest : {std::string(), v4_addresses(), std::string(300, '\xff')}) {
      const ProxyHeader header = parsed(v2(kLocalCommand, family, rest));
      CHECK(header.command == ProxyHeader::Command::local);
      CHECK(header.transport == ProxyHeader::Transport::unspecified);
      CHECK(header.extras == ProxyExtras{});
      CHECK_FALSE(header.speaks_for_client());
    }
  }
}

TEST_CASE("where family or transport is unspecified, what follows is skipped") {
  for (const int family : {0x00, 0x01, 0x02, 0x10, 0x20, 0x30}) {
    CAPTURE(family);
    CHECK(parsed(v2(kProxyCommand, family, "")) == ProxyHeader{});
    CHECK(parsed(v2(kProxyCommand, family, "x")) == ProxyHeader{});
    CHECK(parsed(v2(kProxyCommand, family, std::string(300, '\xff'))) == ProxyHeader{});
  }
}

TEST_CASE("a datagram's addresses must be there and are taken as unspecified") {
  CHECK(parsed(v2(kProxyCommand, 0x12, v4_addresses())) == ProxyHeader{});
  CHECK(parsed(v2(kProxyCommand, 0x22, v6_addresses() + tlv(1, "h2"))) == ProxyHeader{});
  CHECK(parsed(v2(kProxyCommand, 0x32, padded("/a") + padded("/b"))) == ProxyHeader{});
  CHECK(error_of(v2(kProxyCommand, 0x12, v4_addresses().substr(1))) == "v2_too_short");
}

TEST_CASE("another version than 2 is malformed, at the 13th byte") {
  for (const int version : {0x01, 0x11, 0x31, 0xf1}) {
    CHECK(error_of(v2(version, 0x11, v4_addresses()).substr(0, 13)) == "v2_version");
    CHECK(error_of(v2(version, 0x11, v4_addresses())) == "v2_version");
  }
}

TEST_CASE("another command than LOCAL and PROXY is malformed, at the 13th byte") {
  for (int command = 2; command < 16; ++command) {
    const std::string bytes = v2(0x20 + command, 0x11, v4_addresses());
    CHECK(error_of(bytes.substr(0, 13)) == "v2_command");
    CHECK(error_of(bytes) == "v2_command");
  }
}

TEST_CASE("a family or transport that is not assigned is malformed, at the 14th byte") {
  for (int family = 0; family < 256; ++family) {
    CAPTURE(family);
    const std::string bytes = v2(kProxyCommand, family, std::string(216, '\0'));
    if (family / 16 > 3 || family % 16 > 2) {
      CHECK(error_of(bytes.substr(0, 14)) == "v2_family");
      CHECK(error_of(bytes) == "v2_family");
    } else {
      CHECK(parse_proxy_header(bytes).state == State::header);
    }
  }
}

TEST_CASE("a header shorter than its addresses is malformed, at the 16th byte") {
  const std::string unix_paths = padded("/a") + padded("/b");
  for (const auto& [family, addresses] :
       {std::pair(0x11, v4_addresses()), std::pair(0x21, v6_addresses()), {0x31, unix_paths}}) {
    CHECK(parsed(v2(kProxyCommand, family, addresses)).speaks_for_client());
    for (const std::size_t length : {std::size_t{0}, addresses.size() - 1}) {
      const std::string bytes = v2(kProxyCommand, family, addresses.substr(0, length));
      CHECK(error_of(bytes.substr(0, 16)) == "v2_too_short");
      CHECK(error_of(bytes) == "v2_too_short");
    }
  }
}

TEST_CASE("a header of 4096 bytes is read, and one more is too large, at the 16th byte") {
  const std::size_t room = kProxyV2Limit - 16 - 12 - 3;
  const std::string largest =
      v2(kProxyCommand, 0x11, v4_addresses() + tlv(0xe0, std::string(room, 'x')));
  CHECK(largest.size() == 4096);
  CHECK(parsed(largest).source == ip_endpoint("192.0.2.1", 0x1234));
  for (const int command : {kProxyCommand, kLocalCommand}) {
    const std::string larger =
        v2(command, 0x11, v4_addresses() + tlv(0xe0, std::string(room + 1, 'x')));
    CHECK(error_of(larger.substr(0, 16)) == "v2_too_large");
    CHECK(error_of(larger) == "v2_too_large");
  }
  CHECK(error_of(from_hex("0d0a0d0a 000d0a51 5549540a 21 00 ffff")) == "v2_too_large");
}
