// What HAProxy 2.6.12 (Debian 12) sent in front of a connection, byte for byte, and what weir
// writes for the same. Its servers had `send-proxy`, or `send-proxy-v2` with `proxy-v2-options
// unique-id,authority,crc32c`; for TLS clients also `ssl,cert-cn,cert-key,cert-sig,ssl-cipher`.
#include <doctest/doctest.h>

#include "tests/core/proxy_bytes.h"
#include "weir/core/crc32c.h"
#include "weir/core/proxy_header_write.h"

using namespace weir::core;

namespace {

// A client of 127.0.0.1 over TCP; the unique id is made of the four numbers of the connection.
const std::string_view kTcp4 =
    "0d0a0d0a 000d0a51 5549540a 21110036 7f000001 7f000001 bd7842cf 0300048b"
    "0c1ac805 00203746 30303030 30313a42 4437385f 37463030 30303031 3a343243"
    "465f3030 3033";

// A client of ::1 over TCP.
const std::string_view kTcp6 =
    "0d0a0d0a 000d0a51 5549540a 2121007e 00000000 00000000 00000000 00000001"
    "00000000 00000000 00000000 00000001 909642d0 03000488 246e6205 00503030"
    "30303030 30303030 30303030 30303030 30303030 30303030 30303030 30313a39"
    "3039365f 30303030 30303030 30303030 30303030 30303030 30303030 30303030"
    "30303031 3a343244 305f3030 3030";

// A client of a unix socket: HAProxy sends LOCAL, and extras nevertheless.
const std::string_view kUnix = "0d0a0d0a 000d0a51 5549540a 2000000a 03000482 6374b805 0000";

// Its own check of a server.
const std::string_view kCheck = "0d0a0d0a 000d0a51 5549540a 20000000";

// A client over TLS 1.3 that offered h2 and named orders.example, without a certificate.
const std::string_view kTls =
    "0d0a0d0a 000d0a51 5549540a 2111008e 7f000001 7f000001 c3ce42d1 030004cf"
    "b79dc601 00026832 02000e6f 72646572 732e6578 616d706c 65050020 37463030"
    "30303031 3a433343 455f3746 30303030 30313a34 3244315f 30303031 20003f01"
    "00000000 21000754 4c537631 2e332500 07525341 32303438 24000a52 53412d53"
    "48413235 36230016 544c535f 4145535f 3235365f 47434d5f 53484133 3834";

// The same over a new connection, with a certificate of client.example that was verified.
const std::string_view kTlsCertificate =
    "0d0a0d0a 000d0a51 5549540a 2111009f 7f000001 7f000001 c3da42d1 03000448"
    "1b0cb601 00026832 02000e6f 72646572 732e6578 616d706c 65050020 37463030"
    "30303031 3a433344 415f3746 30303030 30313a34 3244315f 30303035 20005007"
    "00000000 21000754 4c537631 2e332200 0e636c69 656e742e 6578616d 706c6525"
    "00075253 41323034 3824000a 5253412d 53484132 35362300 16544c53 5f414553"
    "5f323536 5f47434d 5f534841 333834";

}  // namespace

TEST_CASE("HAProxy's version 1 is read, and written the same") {
  for (const std::string_view line : {"PROXY TCP4 127.0.0.1 127.0.0.1 48656 17101\r\n",
                                      "PROXY TCP6 ::1 ::1 59718 17102\r\n", "PROXY UNKNOWN\r\n"}) {
    CAPTURE(line);
    CHECK(write_proxy_v1(parsed(line)) == line);
  }
  // Its check of a server names the addresses of the check's own connection.
  const ProxyHeader check = parsed("PROXY TCP4 127.0.0.1 127.0.0.1 60024 17202\r\n");
  CHECK(check.source == ip_endpoint("127.0.0.1", 60024));
}

TEST_CASE("HAProxy's version 2 is read, its checksum included") {
  ProxyHeader header = parsed(from_hex(kTcp4));
  CHECK(header.source == ip_endpoint("127.0.0.1", 0xbd78));
  CHECK(header.destination == ip_endpoint("127.0.0.1", 17103));
  CHECK(header.extras == ProxyExtras{.unique_id = "7F000001:BD78_7F000001:42CF_0003"});

  header = parsed(from_hex(kTcp6));
  CHECK(header.source == ip_endpoint("::1", 0x9096));
  CHECK(header.destination == ip_endpoint("::1", 17104));
  CHECK(header.extras.unique_id->size() == 80);
}

TEST_CASE("HAProxy's checksum matters") {
  for (const std::string_view hex : {kTcp4, kTcp6, kTls, kTlsCertificate}) {
    std::string bytes = from_hex(hex);
    bytes[17] = static_cast<char>(bytes[17] ^ 1);
    CHECK(error_of(bytes) == "v2_checksum");
  }
}

TEST_CASE("HAProxy's LOCAL is read") {
  CHECK(parsed(from_hex(kCheck)).command == ProxyHeader::Command::local);
  CHECK(parsed(from_hex(kUnix)).command == ProxyHeader::Command::local);
  CHECK(write_proxy_v2(parsed(from_hex(kUnix)), ProxyChecksum::none) == from_hex(kCheck));
}

TEST_CASE("HAProxy's account of the client's TLS is read") {
  ProxyHeader header = parsed(from_hex(kTls));
  CHECK(header.extras.alpn == "h2");
  CHECK(header.extras.authority == "orders.example");
  CHECK(header.extras.unique_id == "7F000001:C3CE_7F000001:42D1_0001");
  ProxyTls tls = {.client = ProxyTls::kClientTls,
                  .version = "TLSv1.3",
                  .cipher = "TLS_AES_256_GCM_SHA384",
                  .signature_algorithm = "RSA-SHA256",
                  .key_algorithm = "RSA2048"};
  CHECK(header.extras.tls == tls);

  header = parsed(from_hex(kTlsCertificate));
  tls.client = 7;
  tls.common_name = "client.example";
  CHECK(header.extras.tls == tls);
}

TEST_CASE("what HAProxy said in version 2 is written with the same meaning and size") {
  for (const std::string_view hex : {kTcp4, kTcp6, kTls, kTlsCertificate}) {
    const std::string bytes = from_hex(hex);
    const std::string written = write_proxy_v2(parsed(bytes), ProxyChecksum::crc32c);
    CHECK(written.size() == bytes.size());
    CHECK(parsed(written) == parsed(bytes));
  }
}
