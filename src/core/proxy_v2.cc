#include "core/proxy_v2.h"

#include <optional>
#include <string>
#include <tuple>

#include "core/proxy_extras.h"
#include "core/wire_integers.h"

namespace weir::core {
namespace {

using namespace proxy_v2;

ProxyParse malformed(ProxyError error) {
  return {.state = ProxyParse::State::malformed, .size = 0, .error = error, .header = {}};
}

bool assigned(std::uint8_t family) {
  return (family & 0xf0) <= kUnix && (family & 0x0f) <= kDatagram;
}

// The bytes that two addresses of the family take, ports included. Where either half is
// unspecified it is for the sender to know, and for us to skip.
std::size_t addresses_size(std::uint8_t family) {
  if ((family & 0x0f) == 0) return 0;
  switch (family & 0xf0) {
    case kInet:
      return std::size_t{2} * (4 + 2);
    case kInet6:
      return std::size_t{2} * (16 + 2);
    case kUnix:
      return 2 * kProxyPathLimit;
  }
  return 0;
}

template <typename Bytes>
IpAddress address_at(std::string_view bytes, std::size_t at) {
  Bytes address{};
  for (std::size_t i = 0; i < address.size(); ++i) address.at(i) = byte_at(bytes, at + i);
  return IpAddress(address);
}

// Both addresses come before both ports.
template <typename Bytes>
void read_tcp(std::string_view bytes, ProxyHeader& header) {
  constexpr std::size_t size = std::tuple_size_v<Bytes>;
  header.transport = ProxyHeader::Transport::tcp;
  header.source = {address_at<Bytes>(bytes, 0), big_16(bytes, 2 * size)};
  header.destination = {address_at<Bytes>(bytes, size), big_16(bytes, 2 * size + 2)};
}

std::string path_at(std::string_view bytes, std::size_t at) {
  const std::string_view field = bytes.substr(at, kProxyPathLimit);
  return std::string(field.substr(0, field.find('\0')));
}

// Reads the addresses if they are of a stream; a datagram's are of no use here, and the
// specification wants what is not supported to be taken as unspecified.
void read_addresses(std::uint8_t family, std::string_view bytes, ProxyHeader& header) {
  switch (family) {
    case kInet | kStream:
      return read_tcp<IpAddress::V4>(bytes, header);
    case kInet6 | kStream:
      return read_tcp<IpAddress::V6>(bytes, header);
    case kUnix | kStream:
      header.transport = ProxyHeader::Transport::unix_stream;
      header.source_path = path_at(bytes, 0);
      header.destination_path = path_at(bytes, kProxyPathLimit);
  }
}

// What is wrong with the fixed part as far as it is there, each field as soon as it is.
std::optional<ProxyError> check_fixed(std::string_view stream) {
  constexpr std::size_t size = kProxyV2Signature.size();
  if (stream.size() <= size) return {};
  const std::uint8_t version = byte_at(stream, size) & 0xf0;
  const std::uint8_t command = byte_at(stream, size) & 0x0f;
  if (version != kVersion) return ProxyError::v2_version;
  if (command != kLocal && command != kProxy) return ProxyError::v2_command;

  if (stream.size() <= size + 1) return {};
  const std::uint8_t family = byte_at(stream, size + 1);
  if (command == kProxy && !assigned(family)) return ProxyError::v2_family;

  if (stream.size() < kProxyV2Fixed) return {};
  const std::size_t length = big_16(stream, size + 2);
  if (length > kProxyV2Limit - kProxyV2Fixed) return ProxyError::v2_too_large;
  if (command == kProxy && length < addresses_size(family)) return ProxyError::v2_too_short;
  return {};
}

}  // namespace

ProxyParse parse_proxy_v2(std::string_view stream) {
  if (const std::optional<ProxyError> error = check_fixed(stream)) return malformed(*error);
  ProxyParse parse;
  parse.size = kProxyV2Fixed;
  if (stream.size() < kProxyV2Fixed) return parse;
  parse.size += big_16(stream, kProxyV2Fixed - 2);
  if (stream.size() < parse.size) return parse;

  parse.state = ProxyParse::State::header;
  const std::string_view whole = stream.substr(0, parse.size);
  ProxyHeader& header = parse.header;
  if ((byte_at(whole, kProxyV2Signature.size()) & 0x0f) == kLocal) {
    header.command = ProxyHeader::Command::local;
    return parse;
  }
  const std::uint8_t family = byte_at(whole, kProxyV2Signature.size() + 1);
  read_addresses(family, whole.substr(kProxyV2Fixed), header);
  // Where extras begin is known only behind addresses that are.
  if (header.transport == ProxyHeader::Transport::unspecified) return parse;
  const std::size_t extras = kProxyV2Fixed + addresses_size(family);
  const std::optional<ProxyError> error = parse_proxy_extras(whole, extras, header.extras);
  return error ? malformed(*error) : parse;
}

}  // namespace weir::core
