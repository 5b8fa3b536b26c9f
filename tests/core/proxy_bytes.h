#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weir/core/proxy_header_parse.h"

namespace weir::core {

inline std::string from_hex(std::string_view text) {
  std::string bytes;
  std::string digits;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  if (!digits.empty()) throw std::invalid_argument("half a byte");
  return bytes;
}

inline std::string big_endian(std::size_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

inline std::string tlv(int type, std::string_view value) {
  return static_cast<char>(type) + big_endian(value.size(), 2) + std::string(value);
}

// A version 2 header made by hand: the 13th and the 14th byte, and what follows the length.
inline std::string v2(int version_and_command, int family, std::string_view rest) {
  std::string bytes = from_hex("0d0a0d0a 000d0a51 5549540a");
  bytes += static_cast<char>(version_and_command);
  bytes += static_cast<char>(family);
  return bytes + big_endian(rest.size(), 2) + std::string(rest);
}

// 192.0.2.1:4660 to 198.51.100.2:443, as in a TCP over IPv4 header.
inline std::string v4_addresses() { return from_hex("c0000201 c6336402 1234 01bb"); }

// The answer to all of `stream`, having checked that the bytes one by one lead to the same answer,
// that it is final once it is given, and that nothing waits for more than the header has.
inline ProxyParse parse_every_way(std::string_view stream) {
  using State = ProxyParse::State;
  const ProxyParse whole = parse_proxy_header(stream);
  bool decided = false;
  for (std::size_t size = 0; size <= stream.size(); ++size) {
    // A copy that ends where the stream does, so that ASan sees a read behind it.
    const std::string prefix(stream.substr(0, size));
    const ProxyParse parse = parse_proxy_header(prefix);
    if (!decided && parse.state == State::need_more) {
      REQUIRE(parse.size > size);
      if (whole.state == State::header) REQUIRE(parse.size <= whole.size);
      continue;
    }
    if (!decided && parse.state == State::header) REQUIRE(parse.size == size);
    decided = true;
    REQUIRE(parse.state == whole.state);
    REQUIRE(parse.size == whole.size);
    REQUIRE(parse.error == whole.error);
    REQUIRE(parse.header == whole.header);
  }
  return whole;
}

// The header that all of `bytes` is.
inline ProxyHeader parsed(std::string_view bytes) {
  const ProxyParse parse = parse_every_way(bytes);
  REQUIRE(parse.state == ProxyParse::State::header);
  REQUIRE(parse.size == bytes.size());
  // What the client says afterwards is no part of it, a second header least of all.
  const ProxyParse more = parse_every_way(std::string(bytes) + std::string(bytes));
  REQUIRE(more.size == bytes.size());
  REQUIRE(more.header == parse.header);
  return parse.header;
}

inline std::string error_of(std::string_view bytes) {
  const ProxyParse parse = parse_every_way(bytes);
  REQUIRE(parse.state == ProxyParse::State::malformed);
  return std::string(name(parse.error));
}

inline IpEndpoint ip_endpoint(std::string_view address, std::uint16_t port) {
  const std::optional<IpAddress> parsed = IpAddress::parse(address);
  REQUIRE(parsed);
  return {*parsed, port};
}

}  // namespace weir::core
