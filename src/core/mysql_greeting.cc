#include "weir/core/mysql_greeting.h"

#include <algorithm>
#include <cassert>

#include "core/mysql_packet.h"

namespace weir::core {
namespace {

constexpr std::uint32_t kProtocol10 = 10;
constexpr std::uint32_t kErr = 0xff;
constexpr std::size_t kSqlstate = 5;
// Replicas once took a two-digit major version for an error, so MariaDB 10 says it is a
// MySQL 5.5.5.
constexpr std::string_view kMariadbPrefix = "5.5.5-";
constexpr std::string_view kMariadbName = "MariaDB";

MysqlServerPacket verdict(MysqlServerFirst kind, MysqlFault fault = MysqlFault::none) {
  MysqlServerPacket packet;
  packet.kind = kind;
  packet.fault = fault;
  return packet;
}

void read_tail(MysqlFields& fields, MysqlGreeting& greeting, std::size_t payload_size) {
  fields.take(3);  // collation and status
  greeting.upper_at = kMysqlHeader + payload_size - fields.rest().size();
  greeting.capabilities |= std::uint32_t{fields.integer_16()} << 16;
  const std::size_t auth_size = fields.integer_8();
  fields.take(6);
  const std::uint32_t extended = fields.integer_32();
  if ((greeting.capabilities & kMysqlLongPassword) == 0) greeting.mariadb_extended = extended;
  if ((greeting.capabilities & kMysqlSecureConnection) != 0) {
    // The length counts both parts and a NUL; servers without plugins say 0 and send 12 and a NUL.
    std::string_view part = fields.take(std::max<std::size_t>(21, auth_size) - 8);
    if (!part.empty() && part.back() == '\0') part.remove_suffix(1);
    greeting.auth_data_2 = part;
  }
  if ((greeting.capabilities & kMysqlPluginAuth) == 0) return;
  // Some MySQL 5.5 forget the NUL.
  greeting.plugin = fields.rest().substr(0, fields.rest().find('\0'));
}

MysqlServerPacket greeting(std::string_view payload) {
  MysqlServerPacket packet = verdict(MysqlServerFirst::greeting);
  MysqlGreeting& read = packet.greeting;
  MysqlFields fields(payload.substr(1));
  read.version = fields.text();
  read.mariadb = read.version.substr(0, kMariadbPrefix.size()) == kMariadbPrefix ||
                 read.version.find(kMariadbName) != std::string_view::npos;
  read.thread = fields.integer_32();
  read.auth_data_1 = fields.take(8);
  fields.take(1);
  read.lower_at = kMysqlHeader + payload.size() - fields.rest().size();
  read.capabilities = fields.integer_16();
  if (fields.ok() && !fields.rest().empty()) read_tail(fields, read, payload.size());
  if (!fields.ok()) return verdict(MysqlServerFirst::malformed, MysqlFault::truncated);
  return packet;
}

MysqlServerPacket error(std::string_view payload) {
  if (payload.size() < 3) return verdict(MysqlServerFirst::malformed, MysqlFault::truncated);
  MysqlServerPacket packet = verdict(MysqlServerFirst::error);
  packet.error.code = little_16(payload, 1);
  packet.error.message = payload.substr(3);
  if (payload.size() > 3 + kSqlstate && payload[3] == '#') {
    packet.error.sqlstate = payload.substr(4, kSqlstate);
    packet.error.message = payload.substr(4 + kSqlstate);
  }
  return packet;
}

}  // namespace

MysqlServerPacket read_mysql_server_first(std::string_view bytes) {
  MysqlServerPacket packet;
  packet.size = kMysqlHeader + 1;
  if (bytes.size() < kMysqlHeader) return packet;
  const std::size_t length = little_24(bytes, 0);
  if (byte_at(bytes, 3) != 0) {
    return verdict(MysqlServerFirst::malformed, MysqlFault::out_of_order);
  }
  if (length == 0) return verdict(MysqlServerFirst::malformed, MysqlFault::truncated);
  if (length > kMysqlGreetingBound) return verdict(MysqlServerFirst::too_large);
  if (bytes.size() == kMysqlHeader) return packet;
  const std::uint32_t first = byte_at(bytes, kMysqlHeader);
  if (first != kProtocol10 && first != kErr) {
    return verdict(MysqlServerFirst::malformed, MysqlFault::unsupported_version);
  }
  packet.size = kMysqlHeader + length;
  if (bytes.size() < packet.size) return packet;
  const std::string_view payload = bytes.substr(kMysqlHeader, length);
  const std::size_t size = packet.size;
  packet = first == kErr ? error(payload) : greeting(payload);
  if (packet.kind != MysqlServerFirst::malformed) packet.size = size;
  return packet;
}

void set_capabilities(std::span<char> packet, const MysqlGreeting& greeting,
                      std::uint32_t capabilities) {
  const auto put = [packet](std::size_t at, std::uint32_t half) {
    assert(at + 2 <= packet.size());
    packet[at] = static_cast<char>(half & 0xff);
    packet[at + 1] = static_cast<char>(half >> 8 & 0xff);
  };
  put(greeting.lower_at, capabilities);
  if (greeting.upper_at != 0) put(greeting.upper_at, capabilities >> 16);
}

std::string_view name(MysqlFault fault) {
  switch (fault) {
    case MysqlFault::none:
      return "none";
    case MysqlFault::out_of_order:
      return "out_of_order";
    case MysqlFault::unsupported_version:
      return "unsupported_version";
    case MysqlFault::truncated:
      return "truncated";
  }
  return {};
}

}  // namespace weir::core
