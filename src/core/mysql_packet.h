#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/wire_integers.h"

namespace weir::core {

// Before each payload: its length in three bytes, and a sequence number.
inline constexpr std::size_t kMysqlHeader = 4;

// Takes fields off a payload's front, in order. Once one is not there in full, all are empty.
class MysqlFields {
 public:
  explicit MysqlFields(std::string_view payload) : rest_(payload) {}

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) return fail();
    const std::string_view field = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return field;
  }

  // Up to a NUL, which is taken too.
  std::string_view text() {
    const std::size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return fail();
    const std::string_view field = take(end);
    rest_.remove_prefix(1);
    return field;
  }

  std::uint32_t integer_8() {
    const std::string_view field = take(1);
    return ok_ ? byte_at(field, 0) : 0;
  }

  std::uint16_t integer_16() {
    const std::string_view field = take(2);
    return ok_ ? little_16(field, 0) : std::uint16_t{0};
  }

  std::uint32_t integer_32() {
    const std::string_view field = take(4);
    return ok_ ? little_32(field, 0) : 0;
  }

 private:
  std::string_view fail() {
    ok_ = false;
    return rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace weir::core
