#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/core/postgres_key.h"

// What weir itself says in PostgreSQL's protocol, to clients and to servers.
namespace weir::core {

// The answers to SSLRequest and GSSENCRequest, one byte each.
inline constexpr char kPostgresSslAccepted = 'S';
inline constexpr char kPostgresGssAccepted = 'G';
inline constexpr char kPostgresNotAccepted = 'N';

struct PostgresError {
  std::string_view sqlstate;  // five characters
  std::string_view message;   // printable ASCII; anything else is sent as a space
  std::string_view hint;      // likewise; empty = none
};

// An ErrorResponse of severity FATAL: the session ends with it.
std::string postgres_error(const PostgresError& error);

std::string postgres_ssl_request();
std::string postgres_cancel_request(const PostgresKey& key);

}  // namespace weir::core
