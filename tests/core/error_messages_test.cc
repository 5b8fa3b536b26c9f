#include "weir/core/error_messages.h"

#include <doctest/doctest.h>

#include "tests/core/hex.h"
#include "weir/core/mysql_greeting.h"

using namespace weir::core;

TEST_CASE("an ERR packet before the greeting has number 0 and no SQLSTATE") {
  CHECK(mysql_error({0, 1040, {}, "full"}) == hex("070000 00 ff 1004 'full'"));
}

TEST_CASE("an ERR packet to a client that is known has its number and a SQLSTATE") {
  CHECK(mysql_error({2, 3159, "HY000", "TLS!"}) == hex("0d0000 02 ff 570c '#HY000' 'TLS!'"));
}

TEST_CASE("an ERR packet is read as it was written") {
  const std::string packet = mysql_error({0, 1053, "08S01", "bye"});
  const MysqlServerPacket read = read_mysql_server_first(packet);
  CHECK(read.kind == MysqlServerFirst::error);
  CHECK(read.size == packet.size());
  CHECK(read.error.code == 1053);
  CHECK(read.error.sqlstate == "08S01");
  CHECK(read.error.message == "bye");
}

TEST_CASE("an ERR packet's text is cut at 511 bytes, which every client has room for") {
  CHECK(mysql_error({0, 1040, {}, std::string(512, 'x')}) ==
        hex("020200 00 ff 1004") + std::string(511, 'x'));
}

TEST_CASE("a Redis error is one line, whatever is in the text") {
  CHECK(redis_error("weir: full") == hex("2d 45 52 52 20 'weir: full' 0d 0a"));
  CHECK(redis_error("a\r\n+OK\r\nb") == "-ERR a  +OK  b\r\n");
  CHECK(redis_error(std::string("\0\x7f\xff", 3)) == "-ERR    \r\n");
}
