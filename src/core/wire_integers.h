#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Integers as protocols write them. The readers ask for bytes that the caller has seen to be there.
namespace weir::core {

inline std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  assert(at < bytes.size());
  return static_cast<std::uint8_t>(bytes[at]);
}

inline std::uint16_t big_16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
}

inline std::uint32_t big_32(std::string_view bytes, std::size_t at) {
  return std::uint32_t{big_16(bytes, at)} << 16 | big_16(bytes, at + 2);
}

inline std::uint16_t little_16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(byte_at(bytes, at) | byte_at(bytes, at + 1) << 8);
}

inline std::uint32_t little_24(std::string_view bytes, std::size_t at) {
  return little_16(bytes, at) | std::uint32_t{byte_at(bytes, at + 2)} << 16;
}

inline std::uint32_t little_32(std::string_view bytes, std::size_t at) {
  return little_24(bytes, at) | std::uint32_t{byte_at(bytes, at + 3)} << 24;
}

inline void append_byte(std::string& to, std::uint32_t value) {
  to += static_cast<char>(static_cast<std::uint8_t>(value));
}

inline void append_big_16(std::string& to, std::uint32_t value) {
  append_byte(to, value >> 8);
  append_byte(to, value);
}

inline void append_big_24(std::string& to, std::uint32_t value) {
  append_byte(to, value >> 16);
  append_byte(to, value >> 8);
  append_byte(to, value);
}

inline void append_big_32(std::string& to, std::uint32_t value) {
  append_byte(to, value >> 24);
  append_big_24(to, value);
}

inline void append_little_16(std::string& to, std::uint32_t value) {
  append_byte(to, value);
  append_byte(to, value >> 8);
}

inline void append_little_24(std::string& to, std::uint32_t value) {
  append_little_16(to, value);
  append_byte(to, value >> 16);
}

// Appends a text on one line: what is no printable ASCII becomes a space, as no protocol's end of a
// text (NUL, CR, LF) and nothing that a terminal obeys may come from a configured name.
inline void append_line(std::string& to, std::string_view text) {
  for (const char c : text) to += c >= 0x20 && c < 0x7f ? c : ' ';
}

}  // namespace weir::core
