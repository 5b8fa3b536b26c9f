#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "weir/core/proxy_header_parse.h"

namespace weir::core {

// Type, length in two bytes, value.
inline constexpr std::size_t kProxyExtraHead = 3;

enum class ProxyExtraType : std::uint8_t {
  alpn = 0x01,
  authority = 0x02,
  crc32c = 0x03,
  noop = 0x04,
  unique_id = 0x05,
  tls = 0x20,
  tls_version = 0x21,  // this and the next four within `tls`
  tls_common_name = 0x22,
  tls_cipher = 0x23,
  tls_signature_algorithm = 0x24,
  tls_key_algorithm = 0x25,
  netns = 0x30,
};

// Reads the extras of a whole version 2 header, which begin at `begin`, and verifies the checksum
// if they have one. Nothing when all is well.
std::optional<ProxyError> parse_proxy_extras(std::string_view header, std::size_t begin,
                                             ProxyExtras& extras);

// The value has at most 65535 bytes.
void append_proxy_extra(std::string& header, ProxyExtraType type, std::string_view value);
// Those that fit: `header` grows to `limit` bytes at most. The rules are write_proxy_v2's.
void append_proxy_extras(std::string& header, const ProxyExtras& extras, std::size_t limit);

}  // namespace weir::core
