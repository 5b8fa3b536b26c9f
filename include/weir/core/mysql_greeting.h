#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// A MySQL or MariaDB server speaks first: its greeting (HandshakeV10), or an error in its place.
// Source: "Connection Phase Packets" of MySQL's documentation, "Connection" of MariaDB's.
namespace weir::core {

// Capability flags that weir looks at, the same for server and client.
inline constexpr std::uint32_t kMysqlLongPassword = 1;  // clear = MariaDB's extended flags follow
inline constexpr std::uint32_t kMysqlProtocol41 = 1U << 9;
inline constexpr std::uint32_t kMysqlSsl = 1U << 11;
inline constexpr std::uint32_t kMysqlSecureConnection = 1U << 15;
inline constexpr std::uint32_t kMysqlPluginAuth = 1U << 19;

// The longest greeting or error read, without its header of 4 bytes. A greeting has some 100, an
// error's text at most 512.
inline constexpr std::size_t kMysqlGreetingBound = 4096;

enum class MysqlServerFirst : std::uint8_t { need_more, greeting, error, malformed, too_large };

enum class MysqlFault : std::uint8_t {
  none,
  out_of_order,         // another sequence number than this packet's
  unsupported_version,  // a greeting that is not of protocol 10, a client older than 4.1
  truncated,            // the packet ends within a field, or without a string's end
};

std::string_view name(MysqlFault fault);

// Views into the bytes that were read.
struct MysqlGreeting {
  std::string_view version;  // as sent, MariaDB's prefix "5.5.5-" included
  bool mariadb = false;
  std::uint32_t thread = 0;
  std::uint32_t capabilities = 0;      // the lower and the upper half
  std::uint32_t mariadb_extended = 0;  // of MariaDB 10.2 and later
  std::string_view auth_data_1;        // 8 bytes
  std::string_view auth_data_2;        // what follows of it, without the NUL that ends it
  std::string_view plugin;
  std::size_t lower_at = 0;  // where the halves of the capabilities stand in the packet, header
  std::size_t upper_at = 0;  // included; 0 = a greeting so old that it has none
};

// Views into the bytes that were read.
struct MysqlError {
  std::uint16_t code = 0;
  std::string_view sqlstate;  // empty where the server sends none, as before it knows the client
  std::string_view message;
};

struct MysqlServerPacket {
  MysqlServerFirst kind = MysqlServerFirst::need_more;
  MysqlFault fault = MysqlFault::none;
  // need_more: how many bytes there must be at least before it is worth asking again.
  // A packet: how many bytes are its own. What comes behind it came too early: a server waits.
  std::size_t size = 0;
  MysqlGreeting greeting;
  MysqlError error;
};

// Reads from all bytes that have come so far; the verdict on some bytes stays when more follow.
MysqlServerPacket read_mysql_server_first(std::string_view bytes);

// Writes other capabilities into the greeting that was read from `packet`: for a client that shall
// see CLIENT_SSL, as weir terminates it, whatever the server offers. Its length does not change.
void set_capabilities(std::span<char> packet, const MysqlGreeting& greeting,
                      std::uint32_t capabilities);

}  // namespace weir::core
