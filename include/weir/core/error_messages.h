#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Errors as MySQL and Redis servers send them. What is no printable ASCII in a text is sent as a
// space. PostgreSQL's are in postgres_messages.h, HTTP/2's in http2_refusal.h.
namespace weir::core {

struct MysqlRefusal {
  std::uint8_t sequence = 0;  // 0 in place of the greeting, else one more than the client's last
  std::uint16_t code = 0;
  // Five characters, or empty: servers send none before the client has said that it speaks protocol
  // 4.1, and some clients would show it as the beginning of the text.
  std::string_view sqlstate;
  std::string_view message;
};

// An ERR packet.
std::string mysql_error(const MysqlRefusal& refusal);

// "-ERR text".
std::string redis_error(std::string_view text);

}  // namespace weir::core
