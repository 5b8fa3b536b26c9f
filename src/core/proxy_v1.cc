#include "core/proxy_v1.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weir::core {
namespace {

constexpr std::string_view kUnknown = " UNKNOWN";
constexpr std::string_view kTcp4 = " TCP4";
constexpr std::string_view kTcp6 = " TCP6";

// What a whole line has at least: `PROXY UNKNOWN`, and TCP with the shortest addresses and ports.
constexpr std::size_t kShortestUnknown = kProxyV1Signature.size() + kUnknown.size() + 2;
constexpr std::size_t kShortestTcp4 = std::string_view("PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\n").size();
constexpr std::size_t kShortestTcp6 = std::string_view("PROXY TCP6 :: :: 1 1\r\n").size();

ProxyParse malformed(ProxyError error) {
  return {.state = ProxyParse::State::malformed, .size = 0, .error = error, .header = {}};
}

// The stream has `arrived` bytes of a header of `shortest` at least, and no CRLF yet.
ProxyParse need_more(std::size_t arrived, std::size_t shortest) {
  ProxyParse parse;
  parse.size = std::max(arrived + 1, shortest);
  return parse;
}

bool is_cut(std::string_view rest, std::string_view keyword) {
  return rest.size() < keyword.size() && keyword.starts_with(rest);
}

// Nothing after the keyword matters, the CRLF excepted: a CR or LF alone is part of it.
ProxyParse parse_unknown(std::string_view stream) {
  const std::string_view line = stream.substr(0, kProxyV1Limit);
  const std::size_t end = line.find("\r\n");
  if (end != std::string_view::npos) {
    ProxyParse parse;
    parse.state = ProxyParse::State::header;
    parse.size = end + 2;
    return parse;
  }
  if (line.size() == kProxyV1Limit) return malformed(ProxyError::v1_too_long);
  return need_more(line.size(), kShortestUnknown);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text.front() == '0' && text.size() > 1)) return {};
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  if (value > 65535) return {};
  return static_cast<std::uint16_t>(value);
}

// `fields` is what stands between keyword and CRLF, one space before each.
ProxyParse parse_fields(std::string_view fields, bool v6) {
  std::array<std::string_view, 4> field;
  for (std::string_view& one : field) {
    if (!fields.starts_with(' ')) return malformed(ProxyError::v1_fields);
    fields.remove_prefix(1);
    one = fields.substr(0, fields.find(' '));
    if (one.empty()) return malformed(ProxyError::v1_fields);
    fields.remove_prefix(one.size());
  }
  if (!fields.empty()) return malformed(ProxyError::v1_fields);

  ProxyParse parse;
  ProxyHeader& header = parse.header;
  header.transport = ProxyHeader::Transport::tcp;
  const std::array<IpEndpoint*, 2> endpoints = {&header.source, &header.destination};
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::optional<IpAddress> address = IpAddress::parse(field.at(i));
    if (!address || address->is_v6() != v6) return malformed(ProxyError::v1_address);
    endpoints.at(i)->address = *address;
  }
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::optional<std::uint16_t> port = parse_port(field.at(2 + i));
    if (!port) return malformed(ProxyError::v1_port);
    endpoints.at(i)->port = *port;
  }
  parse.state = ProxyParse::State::header;
  return parse;
}

// The first CR or LF decides, so that a line that ends wrongly is known for it as soon as it does.
ProxyParse parse_tcp(std::string_view stream, bool v6) {
  const std::string_view line = stream.substr(0, kProxyV1Limit);
  const std::size_t end = line.find_first_of("\r\n");
  // The LF of a last CR may still be on its way.
  if (end == std::string_view::npos || line.substr(end) == "\r") {
    if (line.size() == kProxyV1Limit) return malformed(ProxyError::v1_too_long);
    return need_more(line.size(), v6 ? kShortestTcp6 : kShortestTcp4);
  }
  if (line.substr(end, 2) != "\r\n") return malformed(ProxyError::v1_line_end);
  const std::size_t begin = kProxyV1Signature.size() + kTcp4.size();
  ProxyParse parse = parse_fields(line.substr(begin, end - begin), v6);
  if (parse.state == ProxyParse::State::header) parse.size = end + 2;
  return parse;
}

}  // namespace

ProxyParse parse_proxy_v1(std::string_view stream) {
  const std::string_view rest = stream.substr(kProxyV1Signature.size());
  if (rest.starts_with(kUnknown)) return parse_unknown(stream);
  if (rest.starts_with(kTcp4)) return parse_tcp(stream, false);
  if (rest.starts_with(kTcp6)) return parse_tcp(stream, true);
  if (is_cut(rest, kUnknown) || is_cut(rest, kTcp4) || is_cut(rest, kTcp6)) {
    return need_more(stream.size(), kShortestUnknown);
  }
  return malformed(ProxyError::v1_keyword);
}

}  // namespace weir::core
