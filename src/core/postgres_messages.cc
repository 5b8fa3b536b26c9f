#include "weir/core/postgres_messages.h"

#include <cassert>

#include "core/postgres_codes.h"
#include "core/wire_integers.h"

namespace weir::core {
namespace {

void append_field(std::string& to, char type, std::string_view text) {
  to += type;
  append_line(to, text);
  to += '\0';
}

}  // namespace

std::string postgres_error(const PostgresError& error) {
  assert(error.sqlstate.size() == 5);
  std::string fields;
  append_field(fields, 'S', "FATAL");  // in the server's language
  append_field(fields, 'V', "FATAL");  // in no language, for programs
  append_field(fields, 'C', error.sqlstate);
  append_field(fields, 'M', error.message);
  if (!error.hint.empty()) append_field(fields, 'H', error.hint);
  fields += '\0';
  std::string message = "E";
  append_big_32(message, static_cast<std::uint32_t>(4 + fields.size()));
  return message += fields;
}

std::string postgres_ssl_request() {
  std::string packet;
  append_big_32(packet, 8);
  append_big_32(packet, kPostgresSslCode);
  return packet;
}

std::string postgres_cancel_request(const PostgresKey& key) {
  assert(key.secret.size() >= kPostgresSecretMin && key.secret.size() <= kPostgresSecretMax);
  std::string packet;
  append_big_32(packet, static_cast<std::uint32_t>(12 + key.secret.size()));
  append_big_32(packet, kPostgresCancelCode);
  append_big_32(packet, key.process);
  return packet += key.secret;
}

}  // namespace weir::core
