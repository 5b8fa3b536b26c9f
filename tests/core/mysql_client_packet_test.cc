#include "weir/core/mysql_client_packet.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/core/hex.h"

using namespace weir::core;

namespace {

using First = MysqlClientFirst;
using Fault = MysqlFault;

// Capabilities with and without CLIENT_SSL, then the longest packet, collation and filler.
const std::string kTail = hex("00000001 2d") + std::string(23, '\0');
const std::string kSsl = hex("00aa0f00") + kTail;
const std::string kPlain = hex("00a20f00") + kTail;

MysqlClientPacket read_in_every_segment(const std::string& bytes, std::uint8_t sequence = 1) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const auto read = read_mysql_client_first(std::string_view(bytes).substr(0, size), sequence);
    CHECK(read.kind == First::need_more);
    CHECK(read.size > size);
    CHECK(read.size <= bytes.size());
  }
  const MysqlClientPacket read = read_mysql_client_first(bytes, sequence);
  CHECK(read.size == bytes.size());
  CHECK(read_mysql_client_first(bytes + "more", sequence).size == bytes.size());
  return read;
}

Fault fault_of(const std::string& bytes) {
  const MysqlClientPacket read = read_mysql_client_first(bytes);
  CHECK(read.kind == First::malformed);
  CHECK(read.size == 0);
  return read.fault;
}

}  // namespace

TEST_CASE("32 bytes with CLIENT_SSL are an SSLRequest") {
  const auto read = read_in_every_segment(hex("200000 01") + kSsl);
  CHECK(read.kind == First::ssl_request);
  CHECK(read.capabilities == 0x0faa00);
  CHECK(read.user.empty());
}

TEST_CASE("a longer packet is a HandshakeResponse41 and names its user") {
  const std::string named = hex("240000 01") + kPlain + hex("'joe' 00");
  const auto plain = read_in_every_segment(named);
  CHECK(plain.kind == First::handshake_response);
  CHECK((plain.capabilities & kMysqlSsl) == 0);
  CHECK(plain.user == "joe");
  const std::string unnamed = hex("220000 01") + kPlain + hex("00 00");
  const auto nobody = read_in_every_segment(unnamed);
  CHECK(nobody.kind == First::handshake_response);
  CHECK(nobody.user.empty());
}

TEST_CASE("within TLS the response has number 2 and keeps CLIENT_SSL") {
  const std::string response = hex("250000 02") + kSsl + hex("'joe' 00 00");
  const auto read = read_in_every_segment(response, 2);
  CHECK(read.kind == First::handshake_response);
  CHECK((read.capabilities & kMysqlSsl) != 0);
  CHECK(read.user == "joe");
}

TEST_CASE("another number than the expected is out of order") {
  CHECK(fault_of(hex("200000 00")) == Fault::out_of_order);
  CHECK(fault_of(hex("200000 02") + kSsl) == Fault::out_of_order);
  CHECK(read_mysql_client_first(hex("200000 01") + kSsl, 2).fault == Fault::out_of_order);
}

TEST_CASE("a client older than 4.1 is told from its first two bytes") {
  CHECK(fault_of(hex("050000 01 0008")) == Fault::unsupported_version);
  CHECK(fault_of(hex("200000 01 00a8")) == Fault::unsupported_version);
}

TEST_CASE("a packet too short for its fields, or without its user's end, is malformed") {
  CHECK(fault_of(hex("000000 01")) == Fault::truncated);
  CHECK(fault_of(hex("010000 01")) == Fault::truncated);
  CHECK(fault_of(hex("1f0000 01") + kSsl) == Fault::truncated);
  CHECK(fault_of(hex("1f0000 01 00aa")) == Fault::truncated);  // no more is waited for
  CHECK(fault_of(hex("200000 01") + kPlain) == Fault::truncated);
  CHECK(fault_of(hex("230000 01") + kPlain + hex("'joe'")) == Fault::truncated);
  CHECK(fault_of(hex("230000 01") + kPlain + hex("'joe' 00")) == Fault::truncated);
}

TEST_CASE("an answer of 68 KiB is read, a longer one is too large from its header on") {
  const std::string longest =
      hex("001001 01") + kPlain + hex("'joe' 00") + std::string(kMysqlClientBound - 36, 'x');
  CHECK(read_mysql_client_first(longest).kind == First::handshake_response);
  CHECK(read_mysql_client_first(longest).size == kMysqlClientBound + 4);
  CHECK(read_mysql_client_first(hex("011001 01")).kind == First::too_large);
}
