#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::core {

// Numbers in network order within bytes.

inline std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  assert(at < bytes.size());
  return static_cast<std::uint8_t>(bytes[at]);
}

inline std::uint16_t big_endian_16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

inline std::uint32_t big_endian_32(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint32_t>(big_endian_16(bytes, at)) << 16 | big_endian_16(bytes, at + 2);
}

inline void append_big_endian_16(std::string& bytes, std::uint16_t value) {
  bytes += static_cast<char>(value >> 8);
  bytes += static_cast<char>(value & 0xff);
}

inline void append_big_endian_32(std::string& bytes, std::uint32_t value) {
  append_big_endian_16(bytes, static_cast<std::uint16_t>(value >> 16));
  append_big_endian_16(bytes, static_cast<std::uint16_t>(value & 0xffff));
}

}  // namespace weir::core
