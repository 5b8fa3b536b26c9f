#include "weir/core/proxy_header_parse.h"

#include "core/proxy_v1.h"
#include "core/proxy_v2.h"

namespace weir::core {
namespace {

// The shortest headers.
constexpr std::size_t kShortestV1 = std::string_view("PROXY UNKNOWN\r\n").size();
constexpr std::size_t kShortestV2 = kProxyV2Fixed;

bool may_become(std::string_view stream, std::string_view signature) {
  return signature.starts_with(stream.substr(0, signature.size()));
}

}  // namespace

ProxyParse parse_proxy_header(std::string_view stream) {
  if (stream.starts_with(kProxyV1Signature)) return parse_proxy_v1(stream);
  if (stream.starts_with(kProxyV2Signature)) return parse_proxy_v2(stream);
  ProxyParse parse;
  if (may_become(stream, kProxyV2Signature)) parse.size = kShortestV2;
  // Of nothing at all either may come.
  if (may_become(stream, kProxyV1Signature)) parse.size = kShortestV1;
  if (parse.size == 0) parse.state = ProxyParse::State::none;
  return parse;
}

std::string_view name(ProxyError error) {
  switch (error) {
    case ProxyError::v1_keyword:
      return "v1_keyword";
    case ProxyError::v1_line_end:
      return "v1_line_end";
    case ProxyError::v1_too_long:
      return "v1_too_long";
    case ProxyError::v1_fields:
      return "v1_fields";
    case ProxyError::v1_address:
      return "v1_address";
    case ProxyError::v1_port:
      return "v1_port";
    case ProxyError::v2_version:
      return "v2_version";
    case ProxyError::v2_command:
      return "v2_command";
    case ProxyError::v2_family:
      return "v2_family";
    case ProxyError::v2_too_large:
      return "v2_too_large";
    case ProxyError::v2_too_short:
      return "v2_too_short";
    case ProxyError::v2_extra_truncated:
      return "v2_extra_truncated";
    case ProxyError::v2_extra_size:
      return "v2_extra_size";
    case ProxyError::v2_extra_repeated:
      return "v2_extra_repeated";
    case ProxyError::v2_checksum:
      return "v2_checksum";
  }
  return "";
}

std::string_view text(ProxyError error) {
  switch (error) {
    case ProxyError::v1_keyword:
      return "neither TCP4, TCP6 nor UNKNOWN follows the word PROXY";
    case ProxyError::v1_line_end:
      return "a CR or LF that is not the CRLF at the end of the line";
    case ProxyError::v1_too_long:
      return "the line does not end within 107 bytes";
    case ProxyError::v1_fields:
      return "the line has not two addresses and two ports with one space before each";
    case ProxyError::v1_address:
      return "an address that is not one of the family that the line names";
    case ProxyError::v1_port:
      return "a port that is not a number from 0 to 65535 without leading zeros";
    case ProxyError::v2_version:
      return "the version is not 2";
    case ProxyError::v2_command:
      return "the command is neither LOCAL nor PROXY";
    case ProxyError::v2_family:
      return "the address family or the transport is not assigned";
    case ProxyError::v2_too_large:
      return "the header is longer than 4096 bytes";
    case ProxyError::v2_too_short:
      return "the header is shorter than the addresses of its family";
    case ProxyError::v2_extra_truncated:
      return "a TLV is longer than what it is in";
    case ProxyError::v2_extra_size:
      return "a TLV has a length that its type cannot have";
    case ProxyError::v2_extra_repeated:
      return "a TLV that may appear once appears twice";
    case ProxyError::v2_checksum:
      return "the checksum does not match";
  }
  return "";
}

bool too_large(ProxyError error) { return error == ProxyError::v2_too_large; }

}  // namespace weir::core
