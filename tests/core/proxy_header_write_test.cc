#include "weir/core/proxy_header_write.h"

#include <doctest/doctest.h>

#include "tests/core/proxy_bytes.h"
#include "weir/core/crc32c.h"

using namespace weir::core;
using Transport = ProxyHeader::Transport;

namespace {

ProxyHeader tcp(IpEndpoint source, IpEndpoint destination) {
  ProxyHeader header;
  header.transport = Transport::tcp;
  header.source = source;
  header.destination = destination;
  return header;
}

ProxyHeader tcp4() {
  return tcp(ip_endpoint("192.0.2.1", 0x1234), ip_endpoint("198.51.100.2", 443));
}

ProxyHeader unix_stream(std::string source, std::string destination) {
  ProxyHeader header;
  header.transport = Transport::unix_stream;
  header.source_path = std::move(source);
  header.destination_path = std::move(destination);
  return header;
}

std::string plain(const ProxyHeader& header) { return write_proxy_v2(header, ProxyChecksum::none); }
std::string summed(const ProxyHeader& header) {
  return write_proxy_v2(header, ProxyChecksum::crc32c);
}

const std::string kUnspecified = v2(0x21, 0x00, "");

}  // namespace

TEST_CASE("version 1 is written as its line") {
  CHECK(write_proxy_v1(tcp4()) == "PROXY TCP4 192.0.2.1 198.51.100.2 4660 443\r\n");
  CHECK(write_proxy_v1(tcp(ip_endpoint("2001:DB8::1", 0), ip_endpoint("::", 65535))) ==
        "PROXY TCP6 2001:db8::1 :: 0 65535\r\n");
}

TEST_CASE("version 1's longest line has the size of the specification") {
  const IpEndpoint longest = ip_endpoint("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535);
  CHECK(write_proxy_v1(tcp(longest, longest)).size() == 104);
}

TEST_CASE("addresses of two families are written as IPv6, the IPv4 one mapped") {
  const IpEndpoint v4 = ip_endpoint("192.0.2.1", 1);
  const IpEndpoint v6 = ip_endpoint("2001:db8::2", 2);
  const IpEndpoint mapped = ip_endpoint("::ffff:192.0.2.1", 1);
  CHECK(write_proxy_v1(tcp(v4, v6)) == "PROXY TCP6 ::ffff:c000:201 2001:db8::2 1 2\r\n");
  CHECK(parsed(plain(tcp(v4, v6))) == tcp(mapped, v6));
  CHECK(parsed(plain(tcp(v6, v4))) == tcp(v6, mapped));
  // Of one family they stay what they are.
  CHECK(parsed(plain(tcp(mapped, v6))) == tcp(mapped, v6));
  CHECK(parsed(plain(tcp(v4, v4))) == tcp(v4, v4));
}

TEST_CASE("what version 1 cannot say is UNKNOWN") {
  ProxyHeader local = tcp4();
  local.command = ProxyHeader::Command::local;
  for (const ProxyHeader& header : {ProxyHeader{}, unix_stream("/a", "/b"), local}) {
    CHECK(write_proxy_v1(header) == "PROXY UNKNOWN\r\n");
  }
}

TEST_CASE("version 2 is written with the addresses of its family") {
  CHECK(plain(tcp4()) == v2(0x21, 0x11, v4_addresses()));
  CHECK(plain(tcp(ip_endpoint("2001:db8::1", 513), ip_endpoint("2001:db8::2", 443))) ==
        from_hex("0d0a0d0a 000d0a51 5549540a 21 21 0024"
                 "20010db8 00000000 00000000 00000001"
                 "20010db8 00000000 00000000 00000002 0201 01bb"));
  std::string paths = "/a";
  paths.resize(kProxyPathLimit);
  paths += std::string(kProxyPathLimit, 'b');
  CHECK(plain(unix_stream("/a", std::string(kProxyPathLimit, 'b'))) == v2(0x21, 0x31, paths));
}

TEST_CASE("a path that version 2 cannot say makes the transport unspecified") {
  const std::string too_long(kProxyPathLimit + 1, 'p');
  CHECK(plain(unix_stream(too_long, "/b")) == kUnspecified);
  CHECK(plain(unix_stream("/a", too_long)) == kUnspecified);
  CHECK(plain(unix_stream("/a", std::string("\0abstract", 9))) == kUnspecified);
}

TEST_CASE("LOCAL and unspecified are written without addresses and extras") {
  ProxyHeader header = tcp4();
  header.extras.authority = "orders.example";
  header.command = ProxyHeader::Command::local;
  CHECK(plain(header) == v2(0x20, 0x00, ""));
  header.command = ProxyHeader::Command::proxy;
  header.transport = Transport::unspecified;
  CHECK(plain(header) == kUnspecified);
}

TEST_CASE("extras are written in the order of their struct") {
  ProxyHeader header = tcp4();
  header.extras = {.authority = "a",
                   .unique_id = "u",
                   .alpn = "h2",
                   .tls = ProxyTls{.client = 5,
                                   .verify = 0x01020304,
                                   .version = "v",
                                   .common_name = "n",
                                   .cipher = "c",
                                   .signature_algorithm = "s",
                                   .key_algorithm = ""},
                   .netns = "blue"};
  const std::string tls = from_hex("05 01020304") + tlv(0x21, "v") + tlv(0x22, "n") +
                          tlv(0x23, "c") + tlv(0x24, "s") + tlv(0x25, "");
  CHECK(plain(header) == v2(0x21, 0x11,
                            v4_addresses() + tlv(2, "a") + tlv(5, "u") + tlv(1, "h2") +
                                tlv(0x20, tls) + tlv(0x30, "blue")));
  CHECK(parsed(plain(header)) == header);
}

TEST_CASE("the checksum is written last and is right") {
  ProxyHeader header = tcp4();
  header.extras.authority = "orders.example";
  const std::string bytes = summed(header);
  CHECK(bytes.size() == plain(header).size() + 7);
  CHECK(bytes.substr(bytes.size() - 7, 3) == from_hex("030004"));
  CHECK(parsed(bytes) == header);
  std::string wrong = bytes;
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  CHECK(error_of(wrong) == "v2_checksum");
  header.command = ProxyHeader::Command::local;
  const std::string zeros = v2(0x20, 0x00, tlv(3, std::string(4, '\0')));
  CHECK(summed(header) == v2(0x20, 0x00, tlv(3, big_endian(crc32c(zeros), 4))));
}

TEST_CASE("an extra that fills the header to its limit is written, one byte more is left out") {
  for (const ProxyChecksum checksum : {ProxyChecksum::none, ProxyChecksum::crc32c}) {
    const std::size_t sum = checksum == ProxyChecksum::none ? 0 : 7;
    ProxyHeader header = tcp4();
    header.extras.authority = std::string(kProxyV2Limit - 16 - 12 - 3 - sum, 'x');
    CHECK(write_proxy_v2(header, checksum).size() == kProxyV2Limit);
    CHECK(parsed(write_proxy_v2(header, checksum)) == header);
    *header.extras.authority += 'x';
    CHECK(parsed(write_proxy_v2(header, checksum)) == tcp4());
  }
}

TEST_CASE("what fits behind an extra that did not fit is written") {
  ProxyHeader header = tcp4();
  header.extras.unique_id = "u";
  header.extras.netns = "blue";
  ProxyHeader larger = header;
  larger.extras.authority = std::string(70000, 'x');
  larger.extras.alpn = std::string(4055, 'x');
  CHECK(parsed(summed(larger)) == header);
}

TEST_CASE("a unique id over 128 bytes is left out") {
  ProxyHeader header = tcp4();
  header.extras.unique_id = std::string(128, 'u');
  CHECK(parsed(plain(header)) == header);
  *header.extras.unique_id += 'u';
  CHECK(parsed(plain(header)) == tcp4());
}

TEST_CASE("the TLS extra is written as a whole or not at all") {
  ProxyHeader header = tcp4();
  header.extras.tls = ProxyTls{.client = 1, .version = "TLSv1.3"};
  header.extras.tls->common_name = std::string(kProxyV2Limit - 16 - 12 - 3 - 5 - 10 - 3, 'n');
  CHECK(parsed(plain(header)) == header);
  for (const std::size_t more : {1U, 100000U}) {
    header.extras.tls->common_name->append(more, 'n');
    header.extras.netns = "blue";
    const ProxyHeader written = parsed(plain(header));
    CHECK_FALSE(written.extras.tls);
    CHECK(written.extras.netns == "blue");
  }
}
