#include "weir/core/mysql_greeting.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/core/hex.h"

using namespace weir::core;

namespace {

using First = MysqlServerFirst;
using Fault = MysqlFault;

std::string packet(const std::string& payload, char sequence = 0) {
  const std::size_t size = payload.size();
  return std::string{static_cast<char>(size & 0xff), static_cast<char>(size >> 8 & 0xff),
                     static_cast<char>(size >> 16), sequence} +
         payload;
}

// A MySQL 8.0: version, thread 0x01020304, 8 bytes, lower half without CLIENT_SSL, collation,
// status, upper half, 21 bytes of authentication data, reserved, 12 of them and a NUL, plugin.
const std::string kEight =
    hex("0a '8.0.36' 00 04030201 'abcdefgh' 00 fff7 ff 0200 ffdf 15 00000000 00000000 0000"
        "'ijklmnopqrst' 00 'caching_sha2_password' 00");

MysqlServerPacket read_in_every_segment(const std::string& bytes) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const auto read = read_mysql_server_first(std::string_view(bytes).substr(0, size));
    CHECK(read.kind == First::need_more);
    CHECK(read.size > size);
    CHECK(read.size <= bytes.size());
  }
  const MysqlServerPacket read = read_mysql_server_first(bytes);
  CHECK(read.size == bytes.size());
  CHECK(read_mysql_server_first(bytes + "more").size == bytes.size());
  return read;
}

Fault fault_of(const std::string& bytes) {
  const MysqlServerPacket read = read_mysql_server_first(bytes);
  CHECK(read.kind == First::malformed);
  CHECK(read.size == 0);
  return read.fault;
}

}  // namespace

TEST_CASE("a greeting of protocol 10 is read field by field") {
  const std::string bytes = packet(kEight);
  const MysqlServerPacket read = read_in_every_segment(bytes);
  REQUIRE(read.kind == First::greeting);
  const MysqlGreeting& greeting = read.greeting;
  CHECK(greeting.version == "8.0.36");
  CHECK_FALSE(greeting.mariadb);
  CHECK(greeting.thread == 0x01020304);
  CHECK(greeting.capabilities == 0xdffff7ff);
  CHECK(greeting.mariadb_extended == 0);
  CHECK(greeting.auth_data_1 == "abcdefgh");
  CHECK(greeting.auth_data_2 == "ijklmnopqrst");
  CHECK(greeting.plugin == "caching_sha2_password");
}

TEST_CASE("MariaDB is told by its prefix or its name, its extended flags by a flag it lacks") {
  std::string payload = kEight;
  payload.replace(1, 6, "5.5.5-10.6.1");
  CHECK(read_mysql_server_first(packet(payload)).greeting.mariadb);
  payload.replace(1, 12, "11.4.2-MariaDB");
  payload.replace(payload.find("abcdefgh") + 9, 2, hex("fe f7"));
  payload.replace(payload.find("ijklmnop") - 4, 4, hex("1d000001"));
  const auto read = read_mysql_server_first(packet(payload));
  CHECK(read.greeting.mariadb);
  CHECK(read.greeting.mariadb_extended == 0x0100001d);
}

TEST_CASE("CLIENT_SSL is set within the greeting, and nothing else changes") {
  std::string bytes = packet(kEight);
  const std::string before = bytes;
  const MysqlGreeting greeting = read_mysql_server_first(bytes).greeting;
  REQUIRE((greeting.capabilities & kMysqlSsl) == 0);
  set_capabilities(bytes, greeting, greeting.capabilities | kMysqlSsl);
  std::string expected = before;
  expected[4 + 1 + 7 + 4 + 9 + 1] = '\xff';
  CHECK(bytes == expected);
  CHECK(read_mysql_server_first(bytes).greeting.capabilities == 0xdfffffff);
  set_capabilities(bytes, greeting, 0x12345678);
  CHECK(read_mysql_server_first(bytes).greeting.capabilities == 0x12345678);
  CHECK(bytes.size() == before.size());
}

TEST_CASE("a greeting may end behind the lower capabilities, which alone are then written") {
  std::string bytes = packet(hex("0a '4.0' 00 01000000 'abcdefgh' 00 2c20"));
  const MysqlServerPacket read = read_in_every_segment(bytes);
  REQUIRE(read.kind == First::greeting);
  CHECK(read.greeting.capabilities == 0x202c);
  CHECK(read.greeting.auth_data_2.empty());
  CHECK(read.greeting.plugin.empty());
  set_capabilities(bytes, read.greeting, 0xffffffff);
  CHECK(bytes == packet(hex("0a '4.0' 00 01000000 'abcdefgh' 00 ffff")));
}

TEST_CASE("authentication data has the length that is stated, and at least 13 bytes behind 8") {
  const std::string head = "0a '5.5' 00 01000000 'abcdefgh' 00 ff f7 08 0200 ";
  const std::string reserved = " 00000000 000000000000 ";
  // No plugins: the length is 0.
  const std::string without = packet(hex(head + "0000 00" + reserved + "'ijklmnopqrst' 00"));
  const auto old = read_in_every_segment(without);
  CHECK(old.greeting.auth_data_2 == "ijklmnopqrst");
  CHECK(old.greeting.plugin.empty());
  // 8 and 16 bytes; and a plugin whose NUL is missing.
  const std::string with = packet(hex(head + "0800 18" + reserved + "'ijklmnopqrstuvwx' 'own'"));
  const auto longer = read_in_every_segment(with);
  CHECK(longer.greeting.auth_data_2 == "ijklmnopqrstuvwx");
  CHECK(longer.greeting.plugin == "own");
}

TEST_CASE("a greeting that ends within a field is malformed") {
  const std::size_t plugin = kEight.find("caching");
  const std::size_t lower_end = 1 + 7 + 4 + 9 + 2;
  for (std::size_t size = 1; size < plugin; ++size) {
    CAPTURE(size);
    if (size == lower_end) continue;
    CHECK(fault_of(packet(kEight.substr(0, size))) == Fault::truncated);
  }
}

TEST_CASE("an error in place of the greeting has no SQLSTATE, or one behind its marker") {
  const std::string without = packet(hex("ff 1004 'Too many connections'"));
  const auto bare = read_in_every_segment(without);
  REQUIRE(bare.kind == First::error);
  CHECK(bare.error.code == 1040);
  CHECK(bare.error.sqlstate.empty());
  CHECK(bare.error.message == "Too many connections");
  const std::string with = packet(hex("ff 6a04 '#HY000no'"));
  const auto marked = read_in_every_segment(with);
  CHECK(marked.error.code == 1130);
  CHECK(marked.error.sqlstate == "HY000");
  CHECK(marked.error.message == "no");
  CHECK(read_mysql_server_first(packet(hex("ff 6a04"))).error.message.empty());
  CHECK(read_mysql_server_first(packet(hex("ff 6a04 '#HY'"))).error.message == "#HY");
  CHECK(fault_of(packet(hex("ff 6a"))) == Fault::truncated);
}

TEST_CASE("a first packet with another number, of another protocol or empty is malformed") {
  CHECK(fault_of(packet(kEight, 1)) == Fault::out_of_order);
  CHECK(fault_of(packet(hex("09 '3.20' 00"))) == Fault::unsupported_version);
  CHECK(fault_of(packet(hex("00"))) == Fault::unsupported_version);
  CHECK(fault_of(packet("")) == Fault::truncated);
  CHECK(fault_of("HTTP") == Fault::out_of_order);
}

TEST_CASE("a first packet of 4096 bytes is read, a longer one is too large from its header on") {
  const auto longest = read_in_every_segment(packet(hex("ff 1004") + std::string(4093, 'x')));
  CHECK(longest.kind == First::error);
  CHECK(read_mysql_server_first(hex("011000 00")).kind == First::too_large);
  CHECK(read_mysql_server_first(hex("ffffff 00 0a")).kind == First::too_large);
}

TEST_CASE("each fault of MySQL's packets has a name") {
  CHECK(name(Fault::none) == "none");
  CHECK(name(Fault::out_of_order) == "out_of_order");
  CHECK(name(Fault::unsupported_version) == "unsupported_version");
  CHECK(name(Fault::truncated) == "truncated");
}
