#include "weir/core/endpoint.h"

#include <doctest/doctest.h>

#include <string>

using namespace weir::core;

namespace {

void check_parses(std::string_view text, const Endpoint& expected) {
  CAPTURE(text);
  const EndpointResult result = parse_endpoint(text);
  CHECK(result.error == "");
  CHECK(result.endpoint == expected);
  CHECK(result.endpoint.text() == text);
}

void check_refused(const EndpointResult& result) {
  CHECK_FALSE(result);
  CHECK(result.error != "");
  CHECK(result.endpoint == Endpoint{});
}

}  // namespace

TEST_CASE("each form of an address parses and prints back as it was written") {
  using enum Endpoint::Kind;
  check_parses("127.0.0.1:5432", {ipv4, "127.0.0.1", "", 5432});
  check_parses("0.0.0.0:1", {ipv4, "0.0.0.0", "", 1});
  check_parses("[::1]:5432", {ipv6, "::1", "", 5432});
  check_parses("[::]:65535", {ipv6, "::", "", 65535});
  check_parses("[::1%lo]:5432", {ipv6, "::1", "lo", 5432});
  check_parses("[fe80::1%eth0]:5432", {ipv6, "fe80::1", "eth0", 5432});
  check_parses("[fe80::1%br-a_b.100]:5432", {ipv6, "fe80::1", "br-a_b.100", 5432});
  check_parses("[::ffff:127.0.0.1]:80", {ipv6, "::ffff:127.0.0.1", "", 80});
  check_parses("db.internal:5432", {name, "db.internal", "", 5432});
  check_parses("db-1_a.internal.:5432", {name, "db-1_a.internal.", "", 5432});
  check_parses("10.db:5432", {name, "10.db", "", 5432});
  check_parses("unix:/run/postgresql/.s.PGSQL.5432",
               {unix_path, "/run/postgresql/.s.PGSQL.5432", "", 0});
}

TEST_CASE("IPv6 is kept in its shortest form, so that equal addresses are equal values") {
  const EndpointResult result = parse_endpoint("[2001:DB8:0:0:0:0:0:1]:443");
  CHECK(result.endpoint.text() == "[2001:db8::1]:443");
  CHECK(result.endpoint == parse_endpoint("[2001:db8::0:1]:443").endpoint);
}

TEST_CASE("a numeric zone is left to whoever knows the interfaces") {
  const EndpointResult result = parse_endpoint("[fe80::1%1]:5432");
  CHECK(result.error == "");
  CHECK(result.endpoint.zone == "1");
}

TEST_CASE("ports that systems disagree about are refused") {
  for (const char* port : {"0", "080", "+80", "-1", " 80", "80 ", "65536", "99999", "4294967376",
                           "18446744073709551696", "0x50", "http", "8e1", ""}) {
    CAPTURE(port);
    check_refused(parse_endpoint(std::string("127.0.0.1:") + port));
    check_refused(parse_endpoint(std::string("[::1]:") + port));
    check_refused(parse_endpoint(std::string("db.internal:") + port));
  }
  check_refused(parse_endpoint("127.0.0.1"));
  check_refused(parse_endpoint("[::1]"));
  check_refused(parse_endpoint("[::1]5432"));
}

TEST_CASE("IPv6 without brackets is refused and told so") {
  for (const char* text : {"::1:8080", "fe80::1", "::1", "2001:db8::1:5432"}) {
    CAPTURE(text);
    const EndpointResult result = parse_endpoint(text);
    check_refused(result);
    CHECK(result.error.find("brackets") != std::string::npos);
  }
}

TEST_CASE("zones are refused when empty, malformed, missing or where they mean nothing") {
  for (const char* text :
       {"[fe80::1%]:80", "[fe80::1]:80", "[febf::1]:80", "[fe80::1%eth 0]:80", "[fe80::1%a/b]:80",
        "[fe80::1%eth0%1]:80", "[fe80::1%sixteen-letters-]:80", "[2001:db8::1%eth0]:80",
        "[::%eth0]:80", "[::ffff:127.0.0.1%lo]:80"}) {
    CAPTURE(text);
    check_refused(parse_endpoint(text));
  }
  CHECK(parse_endpoint("[fec0::1]:80"));  // beyond fe80::/10
}

TEST_CASE("malformed literals are refused") {
  for (const char* text : {"[]:80", "[1.2.3.4]:80", "[::1::]:80", "[12345::]:80", "[::1:80",
                           "[[::1]]:80", "[::1]:80:80", "[ ::1]:80", "::1]:80"}) {
    CAPTURE(text);
    check_refused(parse_endpoint(text));
  }
}

TEST_CASE("what only some systems take for an IPv4 address is neither that nor a name") {
  for (const char* host : {"127.0.0.01", "010.0.0.1", "256.0.0.1", "1.2.3", "1.2.3.4.5", "10",
                           "127.1", "0x7f.1.0x1", "db.0x", "1.2.3.4.", "db.42"}) {
    CAPTURE(host);
    check_refused(parse_endpoint(std::string(host) + ":80"));
  }
}

TEST_CASE("names hold letters, digits, hyphens, underscores and dots between labels") {
  const std::string label(63, 'a');
  CHECK(parse_endpoint(label + ":80"));
  check_refused(parse_endpoint(label + "a:80"));
  CHECK(parse_endpoint(label + "." + label + "." + label + "." + label.substr(2) + ":80"));
  check_refused(parse_endpoint(label + "." + label + "." + label + "." + label.substr(1) + ":80"));
  for (const char* host : {"", ".", "..", ".db", "db..internal", "db/x", "db internal", "d\xc3\xa4",
                           "db%eth0", "a@b", "*"}) {
    CAPTURE(host);
    check_refused(parse_endpoint(std::string(host) + ":80"));
  }
  check_refused(parse_endpoint(std::string_view("db\0x:80", 7)));
  check_refused(parse_endpoint(std::string_view("127.0.0.1\0x:80", 14)));
  check_refused(parse_endpoint(std::string_view("[::1\0x]:80", 10)));
}

TEST_CASE("unix paths are absolute and fit a sockaddr_un") {
  CHECK(parse_endpoint("unix:/" + std::string(106, 'x')));
  check_refused(parse_endpoint("unix:/" + std::string(107, 'x')));
  check_refused(parse_endpoint("unix:run/x.sock"));
  check_refused(parse_endpoint("unix:"));
  check_refused(parse_endpoint(std::string_view("unix:/a\0b", 9)));
}

TEST_CASE("a source address has no port and no brackets, and prints back the same") {
  for (const char* text : {"10.0.0.1", "fe80::1%eth0", "2001:db8::1", "::1"}) {
    CAPTURE(text);
    const EndpointResult result = parse_source_address(text);
    CHECK(result.error == "");
    CHECK(result.endpoint.port == 0);
    CHECK(result.endpoint.text() == text);
  }
  for (const char* text : {"", "10.0.0.1:80", "[::1]", "[::1]:80", "db.internal", "unix:/run/x",
                           "fe80::1", "010.0.0.1", "2001:db8::1%eth0"}) {
    CAPTURE(text);
    check_refused(parse_source_address(text));
  }
}
