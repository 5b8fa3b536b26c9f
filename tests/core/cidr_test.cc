#include "weir/core/cidr.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::core {
namespace {

Cidr block(std::string_view text) {
  std::string error;
  const auto parsed = Cidr::parse(text, error);
  INFO(text, ": ", error);
  REQUIRE(parsed);
  return *parsed;
}

IpAddress address(std::string_view text) { return *IpAddress::parse(text); }

std::string why_not(std::string_view text) {
  std::string error;
  CHECK_FALSE(Cidr::parse(text, error));
  return error;
}

}  // namespace

TEST_CASE("a block holds the addresses that begin as it does") {
  struct Row {
    const char* block;
    std::vector<const char*> in;
    std::vector<const char*> out;
  };
  const std::vector<Row> rows{
      {"10.0.0.0/8", {"10.0.0.0", "10.255.255.255"}, {"9.255.255.255", "11.0.0.0", "::a00:0"}},
      {"192.168.4.0/22", {"192.168.4.0", "192.168.7.255"}, {"192.168.3.255", "192.168.8.0"}},
      {"192.0.2.128/25", {"192.0.2.128", "192.0.2.255"}, {"192.0.2.127", "192.0.3.128"}},
      {"192.0.2.7", {"192.0.2.7"}, {"192.0.2.6", "192.0.2.8"}},
      {"0.0.0.0/0", {"0.0.0.0", "255.255.255.255"}, {"::", "2001:db8::1"}},
      {"128.0.0.0/1", {"128.0.0.0", "255.0.0.1"}, {"127.255.255.255"}},
      {"::/0", {"::", "ffff::"}, {"0.0.0.0"}},
      {"2001:db8::/32", {"2001:db8::", "2001:db8:ffff::1"}, {"2001:db7::1", "2001:db9::"}},
      {"2001:db8::/33", {"2001:db8:7fff::"}, {"2001:db8:8000::"}},
      {"::1", {"::1"}, {"::2", "::"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.block);
    for (const char* each : row.in) {
      CAPTURE(each);
      CHECK(block(row.block).contains(address(each)));
    }
    for (const char* each : row.out) {
      CAPTURE(each);
      CHECK_FALSE(block(row.block).contains(address(each)));
    }
  }
}

TEST_CASE("an IPv4 address that came through IPv6 is in the blocks of IPv4") {
  CHECK(block("192.0.2.0/24").contains(address("::ffff:192.0.2.9")));
  CHECK_FALSE(block("::/0").contains(address("::ffff:192.0.2.9")));
}

TEST_CASE("a block is read as it is written") {
  for (const char* text : {"10.0.0.0/8", "192.0.2.7/32", "0.0.0.0/0", "2001:db8::/32", "::1/128"}) {
    CHECK(block(text).text() == text);
  }
  CHECK(block("192.0.2.7").text() == "192.0.2.7/32");
  CHECK(block("192.0.2.7") == block("192.0.2.7/32"));
}

TEST_CASE("what is no block is refused") {
  for (const char* text :
       {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/08", "10.0.0.0/+8",
        "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0/8", "10.0.0.0/8/8", "10.0.0.0/-1", "db.example",
        "10.0.0.0/255.0.0.0", "10.0.0.0/99999999999", "[::1]", "fe80::1%eth0"}) {
    CAPTURE(text);
    CHECK(why_not(text) == "is neither an address nor a block of addresses");
  }
}

TEST_CASE("a block with bits behind its prefix is a slip, and which it may be is said") {
  CHECK(why_not("10.0.0.1/8") == "has bits behind its prefix: 10.0.0.0/8 is the block it is in");
  CHECK(why_not("192.168.5.0/22") ==
        "has bits behind its prefix: 192.168.4.0/22 is the block it is in");
  CHECK(why_not("2001:db8::1/32") ==
        "has bits behind its prefix: 2001:db8::/32 is the block it is in");
}

TEST_CASE("deny is stronger than allow, and no allow is allow for all") {
  AccessList list;
  CHECK(list.empty());
  CHECK(list.admits(address("192.0.2.1")));
  list.deny = {block("192.0.2.0/24")};
  CHECK_FALSE(list.empty());
  CHECK_FALSE(list.admits(address("192.0.2.1")));
  CHECK(list.admits(address("198.51.100.1")));
  list.allow = {block("192.0.0.0/16"), block("2001:db8::/32")};
  CHECK(list.admits(address("192.0.3.1")));
  CHECK(list.admits(address("2001:db8::1")));
  CHECK_FALSE(list.admits(address("192.0.2.1")));
  CHECK_FALSE(list.admits(address("198.51.100.1")));
}

}  // namespace weir::core
