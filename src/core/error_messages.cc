#include "weir/core/error_messages.h"

#include <cassert>

#include "core/wire_integers.h"

namespace weir::core {
namespace {

constexpr std::size_t kMysqlTextBound = 512;  // as servers', which clients have room for

}  // namespace

std::string mysql_error(const MysqlRefusal& refusal) {
  assert(refusal.sqlstate.empty() || refusal.sqlstate.size() == 5);
  std::string payload = "\xff";
  append_little_16(payload, refusal.code);
  if (!refusal.sqlstate.empty()) {
    payload += '#';
    append_line(payload, refusal.sqlstate);
  }
  append_line(payload, refusal.message.substr(0, kMysqlTextBound - 1));
  std::string packet;
  append_little_24(packet, static_cast<std::uint32_t>(payload.size()));
  append_byte(packet, refusal.sequence);
  return packet += payload;
}

std::string redis_error(std::string_view text) {
  std::string line = "-ERR ";
  append_line(line, text);
  return line += "\r\n";
}

}  // namespace weir::core
