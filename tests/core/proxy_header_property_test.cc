// Made-up headers, written and read again.
#include <doctest/doctest.h>

#include "tests/core/proxy_bytes.h"
#include "weir/core/proxy_header_write.h"
#include "weir/core/random.h"

using namespace weir::core;
using Transport = ProxyHeader::Transport;

namespace {

class HeaderMaker {
 public:
  explicit HeaderMaker(std::uint64_t seed) : rng_(seed) {}

  ProxyHeader make() {
    ProxyHeader header;
    switch (rng_.below(8)) {
      case 0:
        header.command = ProxyHeader::Command::local;
        return header;
      case 1:
        return header;
      case 2:
        header.transport = Transport::unix_stream;
        header.source_path = path();
        header.destination_path = path();
        break;
      case 3:
        header.transport = Transport::tcp;
        header.source = endpoint(true);
        header.destination = endpoint(false);
        break;
      default:
        header.transport = Transport::tcp;
        header.source = endpoint(rng_.below(2) == 0);
        header.destination = endpoint(header.source.address.is_v6());
    }
    header.extras = extras();
    return header;
  }

 private:
  std::string bytes(std::size_t limit) {
    std::string made(rng_.below(limit + 1), '\0');
    for (char& c : made) c = static_cast<char>(rng_.next());
    return made;
  }

  std::optional<std::string> perhaps(std::size_t limit) {
    if (rng_.below(2) == 0) return {};
    return bytes(limit);
  }

  std::string path() {
    std::string made = bytes(kProxyPathLimit);
    for (char& c : made) c = c == '\0' ? '/' : c;
    return made;
  }

  // Many zeros, so that every place of `::` comes up, and mapped ones.
  IpEndpoint endpoint(bool v6) {
    IpAddress::V6 made{};
    for (std::size_t i = 0; i < made.size(); i += 2) {
      if (rng_.below(2) == 0) made.at(i) = static_cast<std::uint8_t>(rng_.next());
      if (rng_.below(2) == 0) made.at(i + 1) = static_cast<std::uint8_t>(rng_.next());
      if (rng_.below(3) == 0) made.at(i) = made.at(i + 1) = 0;
    }
    const auto port = static_cast<std::uint16_t>(rng_.next());
    const IpAddress::V4 first = {made[0], made[1], made[2], made[3]};
    if (v6 && rng_.below(4) == 0) return {IpAddress(first).mapped(), port};
    return {v6 ? IpAddress(made) : IpAddress(first), port};
  }

  ProxyExtras extras() {
    ProxyExtras made;
    made.authority = perhaps(255);
    made.unique_id = perhaps(kProxyUniqueIdLimit);
    made.alpn = perhaps(20);
    made.netns = perhaps(64);
    if (rng_.below(2) == 0) return made;
    made.tls = ProxyTls{.client = static_cast<std::uint8_t>(rng_.next()),
                        .verify = static_cast<std::uint32_t>(rng_.next()),
                        .version = perhaps(10),
                        .common_name = perhaps(64),
                        .cipher = perhaps(40),
                        .signature_algorithm = perhaps(20),
                        .key_algorithm = perhaps(20)};
    return made;
  }

  Rng rng_;
};

// What is left of a header in the version that it was written in.
ProxyHeader of_one_family(ProxyHeader header) {
  if (header.source.address.is_v6() == header.destination.address.is_v6()) return header;
  header.source.address = header.source.address.mapped();
  header.destination.address = header.destination.address.mapped();
  return header;
}

ProxyHeader as_v1(const ProxyHeader& header) {
  ProxyHeader left = of_one_family(header);
  left.extras = {};
  return header.transport == Transport::tcp ? left : ProxyHeader{};
}

}  // namespace

TEST_CASE("whatever is written is read as the same") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    HeaderMaker maker(seed);
    for (int i = 0; i < 50; ++i) {
      const ProxyHeader header = maker.make();
      const std::string line = write_proxy_v1(header);
      CAPTURE(line);
      REQUIRE(line.size() <= kProxyV1Limit);
      REQUIRE(parsed(line) == as_v1(header));
      for (const ProxyChecksum checksum : {ProxyChecksum::none, ProxyChecksum::crc32c}) {
        const std::string bytes = write_proxy_v2(header, checksum);
        REQUIRE(bytes.size() <= kProxyV2Limit);
        REQUIRE(parsed(bytes) == of_one_family(header));
      }
    }
  }
}

TEST_CASE(
    "a header with any byte changed is a header, malformed or waited for, each way the same") {
  Rng rng(1);
  HeaderMaker maker(1);
  for (int i = 0; i < 300; ++i) {
    const ProxyHeader header = maker.make();
    std::string bytes =
        i % 2 == 0 ? write_proxy_v1(header) : write_proxy_v2(header, ProxyChecksum::none);
    for (std::uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.next());
    }
    CAPTURE(i);
    const ProxyParse parse = parse_every_way(bytes + std::string(100, 'x'));
    if (parse.state == ProxyParse::State::header) REQUIRE(parse.size <= bytes.size() + 100);
  }
}
