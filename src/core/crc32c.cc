#include "weir/core/crc32c.h"

#include <array>

namespace weir::core {
namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr Table make_table() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // 0x1edc6f41, the lowest bit first
  Table table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    table.at(byte) = value;
  }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t value = ~before;
  for (const char c : bytes) {
    value = (value >> 8) ^ kTable.at((value ^ static_cast<unsigned char>(c)) & 0xff);
  }
  return ~value;
}

}  // namespace weir::core
