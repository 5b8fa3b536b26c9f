#include "weir/core/postgres_first_packet.h"

#include "core/postgres_codes.h"
#include "core/wire_integers.h"

namespace weir::core {
namespace {

constexpr std::size_t kHead = 8;            // length and code, of every packet
constexpr std::size_t kCancelHead = 12;     // and the process
constexpr char kTlsHandshakeRecord = 0x16;  // as a length's first byte it would be above 350 MiB

PostgresFirstPacket need(std::size_t size) {
  PostgresFirstPacket packet;
  packet.size = size;
  return packet;
}

PostgresFirstPacket only(PostgresFirst kind) {
  PostgresFirstPacket packet;
  packet.kind = kind;
  return packet;
}

PostgresFirstPacket malformed(PostgresFault fault) {
  PostgresFirstPacket packet = only(PostgresFirst::malformed);
  packet.fault = fault;
  return packet;
}

// Takes a string and its NUL off the front; false when none ends.
bool take(std::string_view& from, std::string_view& text) {
  const std::size_t end = from.find('\0');
  if (end == std::string_view::npos) return false;
  text = from.substr(0, end);
  from.remove_prefix(end + 1);
  return true;
}

// Pairs of strings, and nothing behind the last of them.
bool are_pairs(std::string_view parameters) {
  std::string_view text;
  while (!parameters.empty()) {
    if (!take(parameters, text) || text.empty() || !take(parameters, text)) return false;
  }
  return true;
}

PostgresFirstPacket request(PostgresFirst kind, std::size_t length) {
  if (length != kHead) return malformed(PostgresFault::wrong_length);
  PostgresFirstPacket packet = only(kind);
  packet.size = length;
  return packet;
}

PostgresFirstPacket cancel(std::string_view bytes, std::size_t length) {
  if (length < kCancelHead + kPostgresSecretMin || length > kCancelHead + kPostgresSecretMax) {
    return malformed(PostgresFault::wrong_length);
  }
  if (bytes.size() < length) return need(length);
  PostgresFirstPacket packet = only(PostgresFirst::cancel_request);
  packet.size = length;
  packet.cancel.process = big_32(bytes, kHead);
  packet.cancel.secret = bytes.substr(kCancelHead, length - kCancelHead);
  return packet;
}

PostgresFirstPacket startup(std::string_view bytes, std::size_t length, std::uint32_t version) {
  if (version >> 16 != kPostgresMajor) return malformed(PostgresFault::unsupported_version);
  if (length == kHead) return malformed(PostgresFault::bad_parameters);
  if (bytes.size() < length) return need(length);
  PostgresFirstPacket packet = only(PostgresFirst::startup);
  packet.size = length;
  PostgresStartup& read = packet.startup;
  read.version = version;
  read.parameters = bytes.substr(kHead, length - kHead - 1);
  if (bytes[length - 1] != '\0' || !are_pairs(read.parameters)) {
    return malformed(PostgresFault::bad_parameters);
  }
  read.user = read.parameter("user").value_or(std::string_view());
  if (read.user.empty()) return malformed(PostgresFault::no_user);
  read.database = read.parameter("database").value_or(std::string_view());
  if (read.database.empty()) read.database = read.user;
  return packet;
}

}  // namespace

std::optional<std::string_view> PostgresStartup::parameter(std::string_view named) const {
  std::optional<std::string_view> found;
  std::string_view rest = parameters, key, value;
  while (take(rest, key) && take(rest, value)) {
    if (key == named) found = value;
  }
  return found;
}

PostgresFirstPacket read_postgres_first(std::string_view bytes) {
  if (bytes.empty()) return need(1);
  if (bytes[0] == kTlsHandshakeRecord) return only(PostgresFirst::direct_tls);
  if (bytes[0] != '\0') return malformed(PostgresFault::not_postgres);
  if (bytes.size() < 4) return need(kHead);
  const std::size_t length = big_32(bytes, 0);
  if (length > kPostgresFirstPacketBound) return only(PostgresFirst::too_large);
  if (length < kHead) return malformed(PostgresFault::wrong_length);
  if (bytes.size() < kHead) return need(kHead);
  const std::uint32_t code = big_32(bytes, 4);
  if (code == kPostgresSslCode) return request(PostgresFirst::ssl_request, length);
  if (code == kPostgresGssencCode) return request(PostgresFirst::gssenc_request, length);
  if (code == kPostgresCancelCode) return cancel(bytes, length);
  return startup(bytes, length, code);
}

std::string_view name(PostgresFault fault) {
  switch (fault) {
    case PostgresFault::none:
      return "none";
    case PostgresFault::not_postgres:
      return "not_postgres";
    case PostgresFault::wrong_length:
      return "wrong_length";
    case PostgresFault::unsupported_version:
      return "unsupported_version";
    case PostgresFault::bad_parameters:
      return "bad_parameters";
    case PostgresFault::no_user:
      return "no_user";
  }
  return {};
}

}  // namespace weir::core
