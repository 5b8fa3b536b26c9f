#include "weir/core/proxy_header_write.h"

#include <fmt/format.h>

#include <string_view>

#include "core/proxy_extras.h"
#include "core/proxy_v2.h"
#include "core/wire_integers.h"
#include "weir/core/crc32c.h"

namespace weir::core {
namespace {

using namespace proxy_v2;

constexpr std::size_t kChecksumSize = 4;

struct Endpoints {
  IpEndpoint source;
  IpEndpoint destination;
};

Endpoints of_one_family(const ProxyHeader& header) {
  Endpoints both{header.source, header.destination};
  if (both.source.address.is_v6() != both.destination.address.is_v6()) {
    both.source.address = both.source.address.mapped();
    both.destination.address = both.destination.address.mapped();
  }
  return both;
}

bool can_be_said(const std::string& path) {
  return path.size() <= kProxyPathLimit && path.find('\0') == std::string::npos;
}

void append(std::string& bytes, const IpAddress& address) {
  for (const std::uint8_t byte : address.bytes()) bytes += static_cast<char>(byte);
}

std::string tcp_addresses(const Endpoints& both) {
  std::string bytes;
  append(bytes, both.source.address);
  append(bytes, both.destination.address);
  append_big_16(bytes, both.source.port);
  append_big_16(bytes, both.destination.port);
  return bytes;
}

std::string unix_addresses(const ProxyHeader& header) {
  std::string bytes = header.source_path;
  bytes.resize(kProxyPathLimit);
  bytes += header.destination_path;
  bytes.resize(2 * kProxyPathLimit);
  return bytes;
}

void set_length(std::string& header) {
  const std::size_t length = header.size() - kProxyV2Fixed;
  header[kProxyV2Fixed - 2] = static_cast<char>(length >> 8);
  header[kProxyV2Fixed - 1] = static_cast<char>(length & 0xff);
}

// The sum is over everything, the length as it will be, and zeros where it stands itself.
void append_checksum(std::string& header) {
  append_proxy_extra(header, ProxyExtraType::crc32c, std::string(kChecksumSize, '\0'));
  set_length(header);
  const std::uint32_t sum = crc32c(header);
  header.resize(header.size() - kChecksumSize);
  append_big_32(header, sum);
}

struct Addresses {
  std::uint8_t family = 0;
  std::string bytes;
};

Addresses addresses_of(const ProxyHeader& header) {
  switch (header.transport) {
    case ProxyHeader::Transport::unspecified:
      break;
    case ProxyHeader::Transport::tcp: {
      const Endpoints both = of_one_family(header);
      const std::uint8_t family = both.source.address.is_v6() ? kInet6 : kInet;
      return {static_cast<std::uint8_t>(family | kStream), tcp_addresses(both)};
    }
    case ProxyHeader::Transport::unix_stream:
      if (!can_be_said(header.source_path) || !can_be_said(header.destination_path)) break;
      return {kUnix | kStream, unix_addresses(header)};
  }
  return {};
}

}  // namespace

std::string write_proxy_v1(const ProxyHeader& header) {
  if (!header.speaks_for_client() || header.transport != ProxyHeader::Transport::tcp) {
    return "PROXY UNKNOWN\r\n";
  }
  const Endpoints both = of_one_family(header);
  return fmt::format("PROXY {} {} {} {} {}\r\n", both.source.address.is_v6() ? "TCP6" : "TCP4",
                     both.source.address.text(), both.destination.address.text(), both.source.port,
                     both.destination.port);
}

std::string write_proxy_v2(const ProxyHeader& header, ProxyChecksum checksum) {
  const bool local = header.command == ProxyHeader::Command::local;
  const Addresses addresses = local ? Addresses{} : addresses_of(header);
  std::string bytes(kProxyV2Signature);
  bytes += static_cast<char>(kVersion | (local ? kLocal : kProxy));
  bytes += static_cast<char>(addresses.family);
  append_big_16(bytes, 0);
  bytes += addresses.bytes;

  const bool summed = checksum == ProxyChecksum::crc32c;
  const std::size_t reserved = summed ? kProxyExtraHead + kChecksumSize : 0;
  if (addresses.family != 0) append_proxy_extras(bytes, header.extras, kProxyV2Limit - reserved);
  if (summed) {
    append_checksum(bytes);
  } else {
    set_length(bytes);
  }
  return bytes;
}

}  // namespace weir::core
