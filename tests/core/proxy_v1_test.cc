#include "core/proxy_v1.h"

#include <doctest/doctest.h>

#include "tests/core/proxy_bytes.h"

using namespace weir::core;
using State = ProxyParse::State;
using namespace std::string_literals;

namespace {

// Of `PROXY TCP4 ` and `PROXY TCP6 ` with these four fields.
std::string tcp4(std::string_view fields) { return "PROXY TCP4 " + std::string(fields) + "\r\n"; }
std::string tcp6(std::string_view fields) { return "PROXY TCP6 " + std::string(fields) + "\r\n"; }

bool is_unknown(const ProxyHeader& header) { return header == ProxyHeader{}; }

}  // namespace

TEST_CASE("a line of version 1 gives the addresses and ports of an IPv4 client") {
  const ProxyHeader header = parsed("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n");
  CHECK(header.command == ProxyHeader::Command::proxy);
  CHECK(header.transport == ProxyHeader::Transport::tcp);
  CHECK(header.source == ip_endpoint("192.168.0.1", 56324));
  CHECK(header.destination == ip_endpoint("192.168.0.11", 443));
  CHECK(header.extras == ProxyExtras{});
  CHECK(header.speaks_for_client());
}

TEST_CASE("a line of version 1 gives the addresses and ports of an IPv6 client") {
  const ProxyHeader header = parsed(tcp6("2001:DB8::1 ::ffff:192.0.2.7 1 65535"));
  CHECK(header.source == ip_endpoint("2001:db8::1", 1));
  CHECK(header.destination == ip_endpoint("::ffff:c000:207", 65535));
}

TEST_CASE("what follows the line is the client's") {
  const std::string line = "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n";
  const ProxyParse parse = parse_every_way(line + "GET / HTTP/1.1\r\n\r\n");
  CHECK(parse.state == State::header);
  CHECK(parse.size == line.size());
}

TEST_CASE("the longest lines of the specification are read") {
  const std::string v6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
  const std::string fields = v6 + " " + v6 + " 65535 65535";
  CHECK(tcp4("255.255.255.255 255.255.255.255 65535 65535").size() == 56);
  CHECK(parsed(tcp4("255.255.255.255 255.255.255.255 65535 65535")).source.port == 65535);
  CHECK(tcp6(fields).size() == 104);
  CHECK(parsed(tcp6(fields)).source == ip_endpoint(v6, 65535));
  const std::string longest = "PROXY UNKNOWN " + fields + "\r\n";
  CHECK(longest.size() == kProxyV1Limit);
  CHECK(is_unknown(parsed(longest)));
}

TEST_CASE("the shortest lines are read") {
  CHECK(parsed(tcp6(":: :: 0 0")).source == ip_endpoint("::", 0));
  CHECK(parsed(tcp4("1.1.1.1 1.1.1.1 0 0")).destination == ip_endpoint("1.1.1.1", 0));
}

TEST_CASE("a line that does not end within 107 bytes is too long, at the 107th byte") {
  for (const std::string_view start : {"PROXY UNKNOWN ", "PROXY TCP4 ", "PROXY TCP6 "}) {
    const std::string almost = std::string(start) + std::string(106 - start.size(), '1');
    CHECK(parse_every_way(almost).state == State::need_more);
    CHECK(parse_proxy_header(almost).size == 107);
    CHECK(error_of(almost + "1") == "v1_too_long");
    CHECK(error_of(almost + "\r") == "v1_too_long");
    CHECK(error_of(almost + "\r\n") == "v1_too_long");
  }
}

TEST_CASE("UNKNOWN is followed by anything up to CRLF, none of which matters") {
  CHECK(is_unknown(parsed("PROXY UNKNOWN\r\n")));
  CHECK_FALSE(parsed("PROXY UNKNOWN\r\n").speaks_for_client());
  CHECK(is_unknown(parsed("PROXY UNKNOWN 1.2.3.4 5.6.7.8 1 2\r\n")));
  CHECK(is_unknown(parsed("PROXY UNKNOWN \0\xff\r\r\n"s)));
  CHECK(is_unknown(parsed("PROXY UNKNOWN a\nb\rc\n\r\r\n")));
  CHECK(is_unknown(parsed("PROXY UNKNOWN_YET\r\n")));
}

TEST_CASE("another word than TCP4, TCP6 or UNKNOWN is malformed at its first wrong letter") {
  for (const std::string stream :
       {"PROXYX", "PROXY\r\n", "PROXY\n", "PROXY  ", "PROXY\t", "PROXY tcp4", "PROXY TCP5",
        "PROXY TCP\r\n", "PROXY UDP", "PROXY UNKNOW\r\n", "PROXY UNKNOWM", "PROXY U\r\n"}) {
    CAPTURE(stream);
    CHECK(error_of(stream) == "v1_keyword");
  }
  CHECK(error_of("PROXY TCP7 1") == "v1_keyword");
  CHECK(parse_proxy_header("PROXY TCP").state == State::need_more);
}

TEST_CASE("a CR or LF of its own does not end a line, and is not waited behind") {
  const std::string fields = "PROXY TCP4 1.2.3.4 5.6.7.8 1 2";
  CHECK(error_of(fields + "\n") == "v1_line_end");
  CHECK(error_of(fields + "\rX") == "v1_line_end");
  CHECK(error_of(fields + "\r\r\n") == "v1_line_end");
  CHECK(error_of(fields + "\n\r\n") == "v1_line_end");
  CHECK(error_of("PROXY TCP4 1.2.3.4\n") == "v1_line_end");
  CHECK(error_of("PROXY TCP4\n") == "v1_line_end");
  CHECK(parse_every_way(fields + "\r").state == State::need_more);
}

TEST_CASE("there are four fields with exactly one space before each") {
  for (const std::string_view line :
       {"PROXY TCP4\r\n", "PROXY TCP4 \r\n", "PROXY TCP41.2.3.4 5.6.7.8 1 2\r\n",
        "PROXY TCP4  1.2.3.4 5.6.7.8 1 2\r\n", "PROXY TCP4 1.2.3.4  5.6.7.8 1 2\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1  2\r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2 \r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n", "PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n",
        "PROXY TCP4 1.2.3.4 5.6.7.8 1 \r\n", "PROXY TCP4 1.2.3.4 5.6.7.8\r\n"}) {
    CAPTURE(line);
    CHECK(error_of(line) == "v1_fields");
  }
}

TEST_CASE("an address must be whole, canonical, and of the family that is named") {
  CHECK(error_of(tcp4("::1 ::1 1 2")) == "v1_address");
  CHECK(error_of(tcp6("1.2.3.4 5.6.7.8 1 2")) == "v1_address");
  CHECK(error_of(tcp6("::1 5.6.7.8 1 2")) == "v1_address");
  CHECK(error_of(tcp4("1.2.3.4 ::1 1 2")) == "v1_address");
  CHECK(error_of(tcp4("1.2.3.04 5.6.7.8 1 2")) == "v1_address");
  CHECK(error_of(tcp4("1.2.3 5.6.7.8 1 2")) == "v1_address");
  CHECK(error_of(tcp4("1.2.3.256 5.6.7.8 1 2")) == "v1_address");
  CHECK(error_of(tcp4("1.2.3.4\t 5.6.7.8 1 2")) == "v1_address");
  CHECK(error_of(tcp4("1.2.3.4\0 5.6.7.8 1 2"s)) == "v1_address");
  CHECK(error_of(tcp6("fe80::1%eth0 ::1 1 2")) == "v1_address");
  CHECK(error_of(tcp6("[::1] ::1 1 2")) == "v1_address");
  CHECK(error_of(tcp6("1::2::3 ::1 1 2")) == "v1_address");
}

TEST_CASE("a port is a number from 0 to 65535 without leading zeros or a sign") {
  for (const std::string_view port : {"65536", "99999", "100000", "00", "01", "080", "+1", "-1",
                                      "1x", "x", "0x1", "18446744073709551617"}) {
    CAPTURE(port);
    CHECK(error_of(tcp4("1.2.3.4 5.6.7.8 " + std::string(port) + " 2")) == "v1_port");
    CHECK(error_of(tcp4("1.2.3.4 5.6.7.8 2 " + std::string(port))) == "v1_port");
  }
}
