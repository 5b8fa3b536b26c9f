#pragma once

#include <cstdint>
#include <string_view>

namespace weir::core {

// The Castagnoli checksum as SCTP and the PROXY protocol use it (RFC 4960, appendix B). What comes
// in pieces goes on from the checksum of what came before.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace weir::core
