#include "weir/core/proxy_header_parse.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/core/proxy_bytes.h"

using namespace weir::core;
using State = ProxyParse::State;

TEST_CASE("of no bytes at all either version may come") {
  const ProxyParse parse = parse_proxy_header("");
  CHECK(parse.state == State::need_more);
  CHECK(parse.size == 15);
}

TEST_CASE("the first byte that differs from both signatures tells that there is no header") {
  const std::string v1 = "PROXY";
  const std::string v2_signature = from_hex("0d0a0d0a 000d0a51 5549540a");
  for (const std::string& signature : {v1, v2_signature}) {
    for (std::size_t i = 0; i < signature.size(); ++i) {
      std::string stream = signature.substr(0, i);
      CHECK(parse_proxy_header(stream).state == State::need_more);
      stream += static_cast<char>(signature[i] ^ 0x20);
      CHECK(parse_proxy_header(stream).state == State::none);
      CHECK(parse_every_way(stream + std::string(200, 'x')).state == State::none);
    }
  }
}

TEST_CASE("what other protocols begin with is no header") {
  for (const std::string_view stream :
       {"GET / HTTP/1.1\r\n", "PUT / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\n", "proxy TCP4", "\r\nX",
        " PROXY TCP4 ", "\n", "\x16\x03\x01"}) {
    CAPTURE(stream);
    CHECK(parse_every_way(stream).state == State::none);
  }
  CHECK(parse_every_way(from_hex("00000008 04d2162f")).state == State::none);
}

TEST_CASE("each version says how many bytes its header has at least") {
  CHECK(parse_proxy_header("P").size == 15);
  CHECK(parse_proxy_header("PROXY").size == 15);
  CHECK(parse_proxy_header("PROXY TCP6").size == 22);
  CHECK(parse_proxy_header("PROXY TCP4").size == 32);
  CHECK(parse_proxy_header("PROXY TCP4 192.0.2.1 198.51.100.2 4660 443").size == 43);
  CHECK(parse_proxy_header("\r").size == 16);
  const std::string header = v2(0x21, 0x11, v4_addresses() + tlv(4, "xyz"));
  CHECK(parse_proxy_header(header.substr(0, 15)).size == 16);
  CHECK(parse_proxy_header(header.substr(0, 16)).size == 34);
  CHECK(parse_proxy_header(header.substr(0, 33)).size == 34);
}

TEST_CASE("each error has a name and a text of its own, and only one of them is a matter of size") {
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  std::string large;
  for (std::size_t i = 0; i < kProxyErrors; ++i) {
    const auto error = static_cast<ProxyError>(i);
    CHECK_FALSE(name(error).empty());
    CHECK_FALSE(text(error).empty());
    names.insert(name(error));
    texts.insert(text(error));
    if (too_large(error)) large += name(error);
  }
  CHECK(names.size() == kProxyErrors);
  CHECK(texts.size() == kProxyErrors);
  CHECK(large == "v2_too_large");
}

TEST_CASE("the texts name the limits that are in force") {
  CHECK(text(ProxyError::v1_too_long).find(std::to_string(kProxyV1Limit)) != std::string::npos);
  CHECK(text(ProxyError::v2_too_large).find(std::to_string(kProxyV2Limit)) != std::string::npos);
}
