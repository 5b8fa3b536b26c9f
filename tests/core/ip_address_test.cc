#include "weir/core/ip_address.h"

#include <doctest/doctest.h>

using namespace weir::core;

namespace {

std::string canonical(std::string_view text) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  return address ? address->text() : "refused";
}

}  // namespace

TEST_CASE("an address is written in its shortest form") {
  CHECK(canonical("0.0.0.0") == "0.0.0.0");
  CHECK(canonical("255.10.0.1") == "255.10.0.1");
  CHECK(canonical("::") == "::");
  CHECK(canonical("::1") == "::1");
  CHECK(canonical("1::") == "1::");
  CHECK(canonical("2001:DB8:0000:0:0:0:00fa:1") == "2001:db8::fa:1");
  CHECK(canonical("1:2:3:4:5:6:7:8") == "1:2:3:4:5:6:7:8");
  CHECK(canonical("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") ==
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST_CASE("two colons stand for the first of the longest runs of zeros, never for a single zero") {
  CHECK(canonical("1:0:0:2:0:0:0:3") == "1:0:0:2::3");
  CHECK(canonical("1:0:0:2:3:0:0:4") == "1::2:3:0:0:4");
  CHECK(canonical("0:0:1:2:3:4:5:6") == "::1:2:3:4:5:6");
  CHECK(canonical("1:0:2:3:4:5:6:7") == "1:0:2:3:4:5:6:7");
  CHECK(canonical("1:2:3:4:5:6:0:0") == "1:2:3:4:5:6::");
}

TEST_CASE("IPv6 may be read with dotted numbers and is never written with them") {
  CHECK(canonical("::ffff:192.0.2.1") == "::ffff:c000:201");
  CHECK(canonical("::192.0.2.1") == "::c000:201");
}

TEST_CASE("what systems read differently, and what is more than an address, is refused") {
  for (const std::string_view text :
       {"", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "0x7f.0.0.1", " 1.2.3.4", "1.2.3.4 ",
        "1.2.3.4:5", "[::1]", "fe80::1%eth0", "1::2::3", ":::", "12345::", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "localhost"}) {
    CAPTURE(text);
    CHECK(canonical(text) == "refused");
  }
  using namespace std::string_view_literals;
  CHECK(canonical("1.2.3.4\0"sv) == "refused");
  CHECK(canonical("::1\0::1"sv) == "refused");
  CHECK(canonical(std::string(100, '1')) == "refused");
  CHECK(canonical("0000:0000:0000:0000:0000:ffff:255.255.255.255") == "::ffff:ffff:ffff");
  CHECK(canonical("0000:0000:0000:0000:0000:ffff:255.255.255.2555") == "refused");
}

TEST_CASE("an IPv4 address is mapped into IPv6 and back") {
  const IpAddress v4 = *IpAddress::parse("192.0.2.1");
  CHECK(v4.is_v4());
  CHECK(v4.bytes().size() == 4);
  CHECK(v4.mapped().is_v6());
  CHECK(v4.mapped() == *IpAddress::parse("::ffff:192.0.2.1"));
  CHECK(v4.mapped().unmapped() == v4);
  CHECK(v4.unmapped() == v4);
  const IpAddress v6 = *IpAddress::parse("2001:db8::1");
  CHECK(v6.bytes().size() == 16);
  CHECK(v6.mapped() == v6);
  CHECK(v6.unmapped() == v6);
  // Compatible, as it was once called, is not mapped.
  CHECK(IpAddress::parse("::192.0.2.1")->unmapped().is_v6());
}

TEST_CASE("an IPv4 address is not the IPv6 address that begins with its bytes") {
  CHECK(*IpAddress::parse("32.1.13.184") != *IpAddress::parse("2001:db8::"));
  CHECK(IpAddress() == *IpAddress::parse("0.0.0.0"));
}
