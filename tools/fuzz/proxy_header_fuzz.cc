// The PROXY header's parser against any stream, as a whole and byte by byte; and what it took for a
// header, written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "weir/core/proxy_header_parse.h"
#include "weir/core/proxy_header_write.h"

namespace {

using namespace weir::core;
using State = ProxyParse::State;

void require(bool holds) {
  if (!holds) std::abort();
}

// From memory of exactly that size, so that a read behind it is seen.
ProxyParse parse_copy(std::string_view stream) {
  const auto copy = std::make_unique<char[]>(stream.size());
  if (!stream.empty()) std::memcpy(copy.get(), stream.data(), stream.size());
  return parse_proxy_header(std::string_view(copy.get(), stream.size()));
}

bool equal(const ProxyParse& a, const ProxyParse& b) {
  return a.state == b.state && a.size == b.size && a.error == b.error && a.header == b.header;
}

// The first answer that is not need_more is the answer to the whole.
void check_pieces(std::string_view stream, const ProxyParse& whole) {
  for (std::size_t size = 0; size < stream.size(); ++size) {
    const ProxyParse parse = parse_copy(stream.substr(0, size));
    if (parse.state != State::need_more) {
      require(equal(parse, whole));
      require(parse.state != State::header || parse.size == size);
      return;
    }
    require(parse.size > size);
    require(whole.state != State::header || parse.size <= whole.size);
  }
}

ProxyHeader parse_written(std::string_view bytes) {
  const ProxyParse parse = parse_copy(bytes);
  require(parse.state == State::header && parse.size == bytes.size());
  check_pieces(bytes, parse);
  return parse.header;
}

// An IPv4 address beside an IPv6 one is written as mapped.
void check_mixed(const ProxyHeader& header, IpEndpoint ProxyHeader::*end) {
  if (!header.source.address.is_v6()) return;
  ProxyHeader mixed = header;
  (mixed.*end).address = IpAddress();
  ProxyHeader mapped = header;
  (mapped.*end).address = IpAddress().mapped();
  require(parse_written(write_proxy_v2(mixed, ProxyChecksum::none)) == mapped);
}

void check_written(const ProxyHeader& header, std::size_t size) {
  require(parse_written(write_proxy_v2(header, ProxyChecksum::none)) == header);
  // A checksum's seven bytes may leave no room for what was read.
  const ProxyHeader summed = parse_written(write_proxy_v2(header, ProxyChecksum::crc32c));
  require(size > kProxyV2Limit - 7 || summed == header);

  check_mixed(header, &ProxyHeader::source);
  check_mixed(header, &ProxyHeader::destination);

  const ProxyHeader from_line = parse_written(write_proxy_v1(header));
  ProxyHeader left;
  if (header.transport == ProxyHeader::Transport::tcp) left = header;
  left.extras = {};
  require(from_line == left);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  const ProxyParse whole = parse_copy(stream);
  if (whole.state == State::header) {
    require(whole.size <= size && whole.size <= kProxyV2Limit);
    check_written(whole.header, whole.size);
  }
  check_pieces(stream, whole);
  return 0;
}
