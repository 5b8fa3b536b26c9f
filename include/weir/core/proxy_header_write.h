#pragma once

#include <cstdint>
#include <string>

#include "weir/core/proxy_header.h"

namespace weir::core {

// Source and destination of different families are written as IPv6, the IPv4 one mapped
// (::ffff:a.b.c.d).

// The line, at most kProxyV1Limit bytes. What version 1 cannot say, which is all but TCP, is
// `PROXY UNKNOWN`. That includes `local`, although a receiver may refuse it: whoever checks a
// backend's health should send the addresses of the connection instead, as `proxy`.
[[nodiscard]] std::string write_proxy_v1(const ProxyHeader& header);

enum class ProxyChecksum : std::uint8_t { none, crc32c };

// At most kProxyV2Limit bytes, the checksum last. Of the extras, in the order of ProxyExtras, each
// that still fits is written, a TLS one with all it has or not at all; a unique id over
// kProxyUniqueIdLimit fits never. A path over kProxyPathLimit or with a NUL in it cannot be said:
// the transport is unspecified then. `local` and unspecified have no addresses and no extras.
// A receiver is free to refuse unspecified, and HAProxy 2.6 refuses it and unix; `local` it must
// take. HAProxy itself sends `local` for a client that came by a unix socket.
[[nodiscard]] std::string write_proxy_v2(const ProxyHeader& header, ProxyChecksum checksum);

}  // namespace weir::core
