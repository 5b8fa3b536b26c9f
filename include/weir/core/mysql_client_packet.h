#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/core/mysql_greeting.h"

// How a MySQL client answers the greeting: SSLRequest, or a HandshakeResponse41 straight away.
// Source: the same as mysql_greeting.h's.
namespace weir::core {

// The longest answer read, without its header: 64 KiB of connection attributes, and 4 KiB for names
// and the proof of the password.
inline constexpr std::size_t kMysqlClientBound = 68 * 1024;

enum class MysqlClientFirst : std::uint8_t {
  need_more,
  ssl_request,
  handshake_response,
  malformed,
  too_large,
};

struct MysqlClientPacket {
  MysqlClientFirst kind = MysqlClientFirst::need_more;
  MysqlFault fault = MysqlFault::none;
  // need_more: how many bytes there must be at least before it is worth asking again.
  // A packet: how many bytes are its own. Behind an SSLRequest the client hello follows without
  // waiting: those bytes are for the TLS handshake, and for nothing else.
  std::size_t size = 0;
  std::uint32_t capabilities = 0;  // a handshake_response with kMysqlSsl outside TLS is a lie
  std::string_view user;           // of a handshake_response; a view into the bytes
};

// Reads from all bytes that have come so far; the verdict on some bytes stays when more follow.
// `sequence` is the number the packet must have: 1, and 2 when it comes within TLS.
MysqlClientPacket read_mysql_client_first(std::string_view bytes, std::uint8_t sequence = 1);

}  // namespace weir::core
