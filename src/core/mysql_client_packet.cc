#include "weir/core/mysql_client_packet.h"

#include "core/mysql_packet.h"

namespace weir::core {
namespace {

constexpr std::size_t kSslRequest = 32;  // capabilities 4, longest packet 4, collation 1, filler 23

MysqlClientPacket verdict(MysqlClientFirst kind, MysqlFault fault = MysqlFault::none) {
  MysqlClientPacket packet;
  packet.kind = kind;
  packet.fault = fault;
  return packet;
}

MysqlClientPacket malformed(MysqlFault fault) {
  return verdict(MysqlClientFirst::malformed, fault);
}

}  // namespace

MysqlClientPacket read_mysql_client_first(std::string_view bytes, std::uint8_t sequence) {
  MysqlClientPacket packet;
  packet.size = kMysqlHeader + 2;
  if (bytes.size() < kMysqlHeader) return packet;
  const std::size_t length = little_24(bytes, 0);
  if (byte_at(bytes, 3) != sequence) return malformed(MysqlFault::out_of_order);
  if (length > kMysqlClientBound) return verdict(MysqlClientFirst::too_large);
  if (length < 2) return malformed(MysqlFault::truncated);
  if (bytes.size() < packet.size) return packet;
  // Before the length is judged, as the answer of a client older than 4.1 is shorter.
  if ((little_16(bytes, kMysqlHeader) & kMysqlProtocol41) == 0) {
    return malformed(MysqlFault::unsupported_version);
  }
  if (length < kSslRequest) return malformed(MysqlFault::truncated);
  packet.size = kMysqlHeader + length;
  if (bytes.size() < packet.size) return packet;
  MysqlFields fields(bytes.substr(kMysqlHeader, length));
  packet.capabilities = fields.integer_32();
  fields.take(kSslRequest - 4);
  if (length == kSslRequest && (packet.capabilities & kMysqlSsl) != 0) {
    packet.kind = MysqlClientFirst::ssl_request;
    return packet;
  }
  packet.kind = MysqlClientFirst::handshake_response;
  packet.user = fields.text();
  if (!fields.ok()) return malformed(MysqlFault::truncated);
  return packet;
}

}  // namespace weir::core
