#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "weir/core/postgres_key.h"

// The first packet of a PostgreSQL client, before which no server says a word. Source: "Message
// Formats" and "Message Flow" of PostgreSQL's documentation of its protocol, 3.0 to 3.2.
namespace weir::core {

// The longest packet read, its length field included. PostgreSQL takes 10000 bytes behind that.
inline constexpr std::size_t kPostgresFirstPacketBound = 10004;

enum class PostgresFirst : std::uint8_t {
  need_more,
  ssl_request,
  gssenc_request,
  cancel_request,
  startup,
  direct_tls,  // a TLS record (PostgreSQL 17); nothing of it is consumed
  malformed,
  too_large,
};

enum class PostgresFault : std::uint8_t {
  none,
  not_postgres,         // begins like no length of a packet, perhaps an HTTP request
  wrong_length,         // too short, or not the length of this kind of packet
  unsupported_version,  // neither 3.x nor a request
  bad_parameters,       // no pairs of strings that end where the packet ends
  no_user,
};

std::string_view name(PostgresFault fault);

// Views into the bytes that were read; they live as long as those.
struct PostgresStartup {
  std::uint32_t version = 0;  // major << 16 | minor
  std::string_view user;
  std::string_view database;    // the user's name where the client names none, as servers take it
  std::string_view parameters;  // all of them as sent, each name and value ended by a NUL

  // The last of that name, as servers take it.
  std::optional<std::string_view> parameter(std::string_view named) const;
};

struct PostgresCancel {
  std::uint32_t process = 0;
  std::string_view secret;  // a view, as above; its length is within the bounds of postgres_key.h
};

struct PostgresFirstPacket {
  PostgresFirst kind = PostgresFirst::need_more;
  PostgresFault fault = PostgresFault::none;
  // need_more: how many bytes there must be at least before it is worth asking again.
  // A packet: how many bytes are its own. What came beyond an SSLRequest or GSSENCRequest was sent
  // before its answer, so by somebody who injects (CVE-2021-23214): the caller ends the session.
  // Otherwise 0.
  std::size_t size = 0;
  PostgresStartup startup;  // of a startup
  PostgresCancel cancel;    // of a cancel_request
};

// Reads from all bytes that have come so far; the verdict on some bytes stays when more follow.
PostgresFirstPacket read_postgres_first(std::string_view bytes);

}  // namespace weir::core
