#include "weir/core/crc32c.h"

#include <doctest/doctest.h>

#include <string>

using namespace weir::core;

TEST_CASE("the checksum of known bytes is the known one") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283);
  // RFC 3720, B.4.
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  CHECK(crc32c(ascending) == 0x46dd794e);
}

TEST_CASE("bytes in pieces have the checksum of the whole") {
  const std::string_view whole = "123456789";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    CHECK(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))) == 0xe3069283);
  }
}
