#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::core {

// What a PostgreSQL server gives a session (BackendKeyData), and whoever wants to cancel that
// session's query shows (CancelRequest). A secret: not for logs.
struct PostgresKey {
  std::uint32_t process = 0;
  std::string secret;

  friend bool operator==(const PostgresKey&, const PostgresKey&) = default;
};

// 4 bytes exactly before protocol 3.2.
inline constexpr std::size_t kPostgresSecretMin = 4;
inline constexpr std::size_t kPostgresSecretMax = 256;

}  // namespace weir::core
