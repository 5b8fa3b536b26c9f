#include <doctest/doctest.h>

#include "core/proxy_extras.h"
#include "tests/core/proxy_bytes.h"
#include "weir/core/crc32c.h"

using namespace weir::core;
using namespace std::string_literals;

namespace {

std::string with(std::string_view extras) {
  return v2(0x21, 0x11, v4_addresses() + std::string(extras));
}

// `bytes`, which hold one checksum of zeros, with the right one in its place.
std::string summed(std::string bytes) {
  const std::size_t at = bytes.find("\x03\x00\x04\x00\x00\x00\x00"s) + 3;
  return bytes.replace(at, 4, big_endian(crc32c(bytes), 4));
}

const std::string kNoSum = tlv(3, "\0\0\0\0"s);

}  // namespace

TEST_CASE("what a header says beside the addresses is kept as it came") {
  const ProxyExtras extras = parsed(with(tlv(1, "h2") + tlv(2, "orders.example") +
                                         tlv(5, "id\0\xff"s) + tlv(0x30, "blue")))
                                 .extras;
  CHECK(extras.alpn == "h2");
  CHECK(extras.authority == "orders.example");
  CHECK(extras.unique_id == "id\0\xff"s);
  CHECK(extras.netns == "blue");
  CHECK_FALSE(extras.tls);
}

TEST_CASE("extras follow the addresses of every family") {
  CHECK(parsed(v2(0x21, 0x21, std::string(36, '\1') + tlv(2, "six"))).extras.authority == "six");
  CHECK(parsed(v2(0x21, 0x31, std::string(216, '/') + tlv(2, "unix"))).extras.authority == "unix");
}

TEST_CASE("an empty extra is there, and is not an absent one") {
  const ProxyExtras extras = parsed(with(tlv(2, ""))).extras;
  CHECK(extras.authority == "");
  CHECK_FALSE(extras.alpn);
}

TEST_CASE("padding and types that weir does not know are skipped, however many") {
  // What is a part of the TLS extra means nothing outside of it.
  for (const int type : {0x00, 0x04, 0x06, 0x21, 0x22, 0x23, 0x24, 0x25, 0x31, 0xe0, 0xea, 0xff}) {
    CAPTURE(type);
    const std::string unknown = tlv(type, "x") + tlv(type, "");
    CHECK(parsed(with(unknown + tlv(2, "a") + unknown)).extras == ProxyExtras{.authority = "a"});
  }
}

TEST_CASE("an extra that ends behind the header is malformed") {
  CHECK(error_of(with("\x02")) == "v2_extra_truncated");
  CHECK(error_of(with("\x02\x00"s)) == "v2_extra_truncated");
  CHECK(error_of(with("\x02\x00\x01"s)) == "v2_extra_truncated");
  CHECK(error_of(with(tlv(1, "h2") + "\x02\x00\x03zz"s)) == "v2_extra_truncated");
  CHECK(error_of(with("\xe0\xff\xffzz")) == "v2_extra_truncated");
  CHECK(error_of(with("\x04\x00\x02z"s)) == "v2_extra_truncated");
}

TEST_CASE("a unique id has 128 bytes at most") {
  CHECK(parsed(with(tlv(5, std::string(128, 'u')))).extras.unique_id == std::string(128, 'u'));
  CHECK(error_of(with(tlv(5, std::string(129, 'u')))) == "v2_extra_size");
}

TEST_CASE("two extras of a kind are malformed, equal or not") {
  for (const int type : {0x01, 0x02, 0x05, 0x30}) {
    CHECK(error_of(with(tlv(type, "a") + tlv(4, "") + tlv(type, "a"))) == "v2_extra_repeated");
  }
  CHECK(error_of(with(kNoSum + kNoSum)) == "v2_extra_repeated");
  CHECK(error_of(with(tlv(0x20, "\1\0\0\0\0"s) + tlv(0x20, "\1\0\0\0\0"s))) == "v2_extra_repeated");
}

TEST_CASE("what is said of the client's TLS is kept with its parts") {
  const std::string parts = tlv(0x21, "TLSv1.3") + tlv(0x22, "client.example") +
                            tlv(0x23, "TLS_AES_256_GCM_SHA384") + tlv(0x24, "RSA-SHA256") +
                            tlv(0x25, "RSA2048");
  const ProxyHeader header = parsed(with(tlv(0x20, from_hex("07 01020304") + parts)));
  REQUIRE(header.extras.tls);
  const ProxyTls& tls = *header.extras.tls;
  CHECK(tls.client ==
        (ProxyTls::kClientTls | ProxyTls::kClientCertificate | ProxyTls::kSessionCertificate));
  CHECK(tls.verify == 0x01020304);
  CHECK(tls.version == "TLSv1.3");
  CHECK(tls.common_name == "client.example");
  CHECK(tls.cipher == "TLS_AES_256_GCM_SHA384");
  CHECK(tls.signature_algorithm == "RSA-SHA256");
  CHECK(tls.key_algorithm == "RSA2048");
}

TEST_CASE("of the client's TLS only the flags and the verification must be said") {
  const ProxyHeader header = parsed(with(tlv(0x20, from_hex("01 00000001"))));
  CHECK(header.extras.tls == ProxyTls{.client = 1, .verify = 1});
  CHECK(error_of(with(tlv(0x20, from_hex("01 000000")))) == "v2_extra_size");
  CHECK(error_of(with(tlv(0x20, ""))) == "v2_extra_size");
}

TEST_CASE("a part of the TLS extra is held to the rules of an extra, within it") {
  const std::string fixed = from_hex("01 00000000");
  const auto tls = [&](std::string_view parts) {
    return with(tlv(0x20, fixed + std::string(parts)) + tlv(0xe0, "room behind it"));
  };
  CHECK(error_of(tls("\x21")) == "v2_extra_truncated");
  CHECK(error_of(tls("\x21\x00\x02z"s)) == "v2_extra_truncated");
  for (const int type : {0x21, 0x22, 0x23, 0x24, 0x25}) {
    CHECK(error_of(tls(tlv(type, "a") + tlv(type, "b"))) == "v2_extra_repeated");
  }
  // Not parts of it: skipped, and no second authority.
  const ProxyHeader header = parsed(tls(tlv(0x02, "a") + tlv(0x02, "b") + tlv(0x7f, "c")));
  CHECK(header.extras == ProxyExtras{.tls = ProxyTls{.client = 1}});
}

TEST_CASE("a right checksum is accepted wherever it stands") {
  const std::string name = tlv(2, "orders.example");
  const std::string alpn = tlv(1, "h2");
  for (const std::string& extras : {kNoSum, kNoSum + name, name + kNoSum, name + kNoSum + alpn}) {
    CHECK(parsed(summed(with(extras))).source == ip_endpoint("192.0.2.1", 0x1234));
  }
}

TEST_CASE("the checksum sees a bit that changed in an address, a port, a name or itself") {
  const std::string right = summed(with(tlv(2, "orders.example") + kNoSum));
  const std::size_t sum = right.size() - 4;
  const std::size_t name = sum - 3 - 14;
  CHECK(parsed(right).extras.authority == "orders.example");
  for (std::size_t at = 16; at < right.size(); ++at) {
    CAPTURE(at);
    if (at == 28) at = name;  // behind the addresses
    if (at == name + 14) at = sum;
    for (int bit = 0; bit < 8; ++bit) {
      std::string wrong = right;
      wrong[at] = static_cast<char>(wrong[at] ^ (1 << bit));
      CHECK(error_of(wrong) == "v2_checksum");
    }
  }
}

TEST_CASE("a checksum has four bytes, and zeros are not one") {
  CHECK(error_of(with(tlv(3, "abc"))) == "v2_extra_size");
  CHECK(error_of(with(tlv(3, "abcde"))) == "v2_extra_size");
  CHECK(error_of(with(tlv(3, ""))) == "v2_extra_size");
  CHECK(error_of(with(kNoSum)) == "v2_checksum");
}

TEST_CASE("LOCAL's checksum is as ignored as the rest of it") {
  CHECK(parsed(v2(0x20, 0x00, kNoSum)).command == ProxyHeader::Command::local);
}
