#pragma once

#include <cstdint>

// What stands where a StartupMessage has its version. Each request is a version 1234.x that no
// server will ever speak.
namespace weir::core {

inline constexpr std::uint32_t kPostgresMajor = 3;
inline constexpr std::uint32_t kPostgresCancelCode = 1234U << 16 | 5678;
inline constexpr std::uint32_t kPostgresSslCode = 1234U << 16 | 5679;
inline constexpr std::uint32_t kPostgresGssencCode = 1234U << 16 | 5680;

}  // namespace weir::core
