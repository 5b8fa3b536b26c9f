#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/core/proxy_header.h"

namespace weir::core {

// Why what begins as a PROXY header is none. One closed list; the words come from name().
enum class ProxyError : std::uint8_t {
  v1_keyword,          // neither TCP4, TCP6 nor UNKNOWN after `PROXY `
  v1_line_end,         // a CR or LF that is no CRLF
  v1_too_long,         // no CRLF in the first 107 bytes
  v1_fields,           // not four of them with one space before each
  v1_address,          // not an address, or not of the family that the keyword says
  v1_port,             // not a number from 0 to 65535, or with leading zeros
  v2_version,          // not 2
  v2_command,          // neither LOCAL nor PROXY
  v2_family,           // a family or transport that is not assigned
  v2_too_large,        // longer than kProxyV2Limit
  v2_too_short,        // than the addresses of its family
  v2_extra_truncated,  // an extra (TLV) that ends behind the header, or behind the one it is in
  v2_extra_size,       // an extra whose value cannot have the length it has
  v2_extra_repeated,   // two extras of a kind: which one the sender means is a guess
  v2_checksum,         // does not match
};
inline constexpr std::size_t kProxyErrors = static_cast<std::size_t>(ProxyError::v2_checksum) + 1;

std::string_view name(ProxyError error);
// A sentence's part for people: `malformed PROXY header: ` goes before it.
std::string_view text(ProxyError error);
// The header is not wrong but more than weir takes.
bool too_large(ProxyError error);

struct ProxyParse {
  enum class State : std::uint8_t {
    need_more,  // so far it may become a header
    header,     // `header`, and it took `size` bytes; what follows is the client's
    none,       // not a PROXY header, whatever follows
    malformed,  // a header that must end the connection; `error`
  };

  State state = State::need_more;
  // need_more: no header that begins like this is shorter, and `size` is more than was there. But
  // fewer may show that it is none or malformed, so ask again whenever something has arrived.
  std::size_t size = 0;
  ProxyError error = ProxyError::v1_keyword;  // malformed only
  ProxyHeader header;
};

// What `stream`, all that has arrived since the connection began, is. Keeps nothing between calls
// and does not depend on how the bytes arrived: what it once answers, except need_more, it answers
// for any longer stream too. Costs no more than the first kProxyV1Limit bytes until a version 2
// header is there as a whole.
[[nodiscard]] ProxyParse parse_proxy_header(std::string_view stream);

}  // namespace weir::core
