#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "weir/core/ip_address.h"

namespace weir::core {

// What the PROXY protocol (version 1 and 2) says about a client that a proxy stands in front of.
// https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt

// A version 1 header's longest line, CRLF included; from the specification.
inline constexpr std::size_t kProxyV1Limit = 107;
// All of a version 2 header, both read and written. The specification allows 64 KiB but wants a
// header that fits one segment; unix addresses (216 bytes), a host name, a unique id, and the names
// in a client's certificate leave most of this free.
inline constexpr std::size_t kProxyV2Limit = 4096;
// Each path of a unix header, which ends in no NUL then.
inline constexpr std::size_t kProxyPathLimit = 108;
inline constexpr std::size_t kProxyUniqueIdLimit = 128;

// How the client's own TLS ended at the proxy (PP2_TYPE_SSL). What is absent was not said;
// the initialisers let a caller name some members alone.
struct ProxyTls {
  static constexpr std::uint8_t kClientTls = 1;           // the client came over TLS
  static constexpr std::uint8_t kClientCertificate = 2;   // presented on this connection
  static constexpr std::uint8_t kSessionCertificate = 4;  // presented once in this TLS session

  std::uint8_t client = 0;                   // of the bits above; others are kept as they came
  std::uint32_t verify = 0;                  // 0: a certificate was presented and verified
  std::optional<std::string> version{};      // "TLSv1.3"
  std::optional<std::string> common_name{};  // the client certificate's
  std::optional<std::string> cipher{};       // "ECDHE-RSA-AES128-GCM-SHA256"
  std::optional<std::string> signature_algorithm{};  // of the proxy's certificate, "RSA-SHA256"
  std::optional<std::string> key_algorithm{};        // of the proxy's certificate, "RSA2048"

  bool operator==(const ProxyTls&) const = default;
};

// Bytes as the proxy sent them, and of its making: none is checked to be a name, UTF-8 or
// printable. Present and empty is not absent.
struct ProxyExtras {
  std::optional<std::string> authority{};  // the host name the client asked for (SNI)
  std::optional<std::string> unique_id{};
  std::optional<std::string> alpn{};
  std::optional<ProxyTls> tls{};
  std::optional<std::string> netns{};  // the network namespace at the proxy

  bool operator==(const ProxyExtras&) const = default;
};

struct ProxyHeader {
  // `local`: the proxy speaks for itself, as in its health checks; nothing below applies.
  enum class Command : std::uint8_t { proxy, local };
  // `unspecified`: a client of which nothing usable is known, `UNKNOWN` in version 1 and datagrams
  // in version 2 included; the connection's own addresses stand, and nothing below applies.
  enum class Transport : std::uint8_t { unspecified, tcp, unix_stream };

  Command command = Command::proxy;
  Transport transport = Transport::unspecified;
  // For tcp; the other defaults otherwise. Of one family when they were parsed; to be written they
  // may differ, see proxy_header_write.h.
  IpEndpoint source;       // the client
  IpEndpoint destination;  // what it connected to
  // For unix_stream. Without NUL: what a path is followed by is not part of it, and an unnamed or
  // abstract socket has none.
  std::string source_path;
  std::string destination_path;
  ProxyExtras extras;  // version 2 only

  // Whether the addresses of `transport` are the client's, to be used instead of the connection's.
  bool speaks_for_client() const {
    return command == Command::proxy && transport != Transport::unspecified;
  }

  bool operator==(const ProxyHeader&) const = default;
};

}  // namespace weir::core
