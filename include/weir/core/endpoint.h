#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::core {

// An address as people write it: `127.0.0.1:5432`, `[fe80::1%eth0]:5432`, `db.internal:5432`,
// `unix:/run/x.sock`. A value; says nothing about whether it can be reached.
struct Endpoint {
  enum class Kind { ipv4, ipv6, name, unix_path };

  Kind kind = Kind::ipv4;
  std::string host;  // the literal without brackets and zone, the name, or the path
  std::string zone;  // IPv6 only; empty = none
  std::uint16_t port = 0;

  // The form above, which parses back to an equal value: IPv6 in its shortest form. With port 0
  // that of parse_source_address, which has neither port nor brackets.
  std::string text() const;
  bool operator==(const Endpoint&) const = default;
};

// Either a value or the reason why the text is not one; `error` is empty exactly when it parsed.
struct EndpointResult {
  Endpoint endpoint;
  std::string error;
  explicit operator bool() const { return error.empty(); }
};

// Refuses what systems disagree about: ports written `080` or `+80`, port 0, IPv6 without brackets,
// an empty zone, a zone on an address that is not link-local or loopback, link-local without a
// zone, IPv4 with leading zeros, unix paths that do not fit a sockaddr_un (107 bytes) or are not
// absolute, names with characters outside letters, digits, `-`, `_`, `.`. Whether a zone names an
// interface of this machine is left to the caller.
[[nodiscard]] EndpointResult parse_endpoint(std::string_view text);

// An address without a port, as in `source_address`: `10.0.0.1`, `fe80::1%eth0` (no brackets).
[[nodiscard]] EndpointResult parse_source_address(std::string_view text);

}  // namespace weir::core
