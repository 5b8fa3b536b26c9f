#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/core/proxy_header_parse.h"

namespace weir::core {

// With a NUL in it, so not a C string.
inline constexpr std::string_view kProxyV2Signature("\r\n\r\n\0\r\nQUIT\n", 12);
inline constexpr std::size_t kProxyV2Fixed = 16;  // signature, version and command, family, length

// The 13th and 14th byte.
namespace proxy_v2 {
inline constexpr std::uint8_t kVersion = 0x20;
inline constexpr std::uint8_t kLocal = 0x0;
inline constexpr std::uint8_t kProxy = 0x1;
inline constexpr std::uint8_t kInet = 0x10;
inline constexpr std::uint8_t kInet6 = 0x20;
inline constexpr std::uint8_t kUnix = 0x30;
inline constexpr std::uint8_t kStream = 0x1;
inline constexpr std::uint8_t kDatagram = 0x2;
}  // namespace proxy_v2

// `stream` begins with the signature.
ProxyParse parse_proxy_v2(std::string_view stream);

}  // namespace weir::core
