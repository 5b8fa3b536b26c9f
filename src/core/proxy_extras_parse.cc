#include "core/proxy_extras.h"

#include "core/wire_integers.h"
#include "weir/core/crc32c.h"

namespace weir::core {
namespace {

constexpr std::size_t kChecksumSize = 4;
constexpr std::size_t kTlsFixed = 5;  // one byte of flags, four of the verification's result

using Failure = std::optional<ProxyError>;

// One TLV, cut off the front of what is left.
struct Extra {
  ProxyExtraType type = ProxyExtraType::noop;
  std::string_view value;
};

std::optional<Extra> take(std::string_view& rest) {
  if (rest.size() < kProxyExtraHead) return {};
  const std::size_t length = big_16(rest, 1);
  if (length > rest.size() - kProxyExtraHead) return {};
  const Extra extra{static_cast<ProxyExtraType>(byte_at(rest, 0)),
                    rest.substr(kProxyExtraHead, length)};
  rest.remove_prefix(kProxyExtraHead + length);
  return extra;
}

Failure keep(std::string_view value, std::optional<std::string>& place) {
  if (place) return ProxyError::v2_extra_repeated;
  place = value;
  return {};
}

Failure keep_tls_part(const Extra& extra, ProxyTls& tls) {
  switch (extra.type) {
    case ProxyExtraType::tls_version:
      return keep(extra.value, tls.version);
    case ProxyExtraType::tls_common_name:
      return keep(extra.value, tls.common_name);
    case ProxyExtraType::tls_cipher:
      return keep(extra.value, tls.cipher);
    case ProxyExtraType::tls_signature_algorithm:
      return keep(extra.value, tls.signature_algorithm);
    case ProxyExtraType::tls_key_algorithm:
      return keep(extra.value, tls.key_algorithm);
    case ProxyExtraType::alpn:
    case ProxyExtraType::authority:
    case ProxyExtraType::crc32c:
    case ProxyExtraType::noop:
    case ProxyExtraType::unique_id:
    case ProxyExtraType::tls:
    case ProxyExtraType::netns:
      break;
  }
  return {};  // not a part of this one: skipped, as any number that is not in the list
}

Failure keep_tls(std::string_view value, std::optional<ProxyTls>& place) {
  if (place) return ProxyError::v2_extra_repeated;
  if (value.size() < kTlsFixed) return ProxyError::v2_extra_size;
  ProxyTls& tls = place.emplace();
  tls.client = byte_at(value, 0);
  tls.verify = big_32(value, 1);
  for (std::string_view rest = value.substr(kTlsFixed); !rest.empty();) {
    const std::optional<Extra> extra = take(rest);
    if (!extra) return ProxyError::v2_extra_truncated;
    if (const Failure failure = keep_tls_part(*extra, tls)) return failure;
  }
  return {};
}

// A checksum's four bytes in the header, which they lie in.
Failure keep_checksum(std::string_view value, std::optional<std::string_view>& place) {
  if (place) return ProxyError::v2_extra_repeated;
  if (value.size() != kChecksumSize) return ProxyError::v2_extra_size;
  place = value;
  return {};
}

Failure keep_extra(const Extra& extra, ProxyExtras& extras,
                   std::optional<std::string_view>& checksum) {
  switch (extra.type) {
    case ProxyExtraType::alpn:
      return keep(extra.value, extras.alpn);
    case ProxyExtraType::authority:
      return keep(extra.value, extras.authority);
    case ProxyExtraType::crc32c:
      return keep_checksum(extra.value, checksum);
    case ProxyExtraType::unique_id:
      if (extra.value.size() > kProxyUniqueIdLimit) return ProxyError::v2_extra_size;
      return keep(extra.value, extras.unique_id);
    case ProxyExtraType::tls:
      return keep_tls(extra.value, extras.tls);
    case ProxyExtraType::netns:
      return keep(extra.value, extras.netns);
    case ProxyExtraType::noop:
    case ProxyExtraType::tls_version:
    case ProxyExtraType::tls_common_name:
    case ProxyExtraType::tls_cipher:
    case ProxyExtraType::tls_signature_algorithm:
    case ProxyExtraType::tls_key_algorithm:
      break;
  }
  return {};  // padding, and any number that is not in the list
}

// The sum is over the whole header, with zeros where it stands itself.
bool matches(std::string_view header, std::string_view checksum) {
  const auto at = static_cast<std::size_t>(checksum.data() - header.data());
  std::uint32_t sum = crc32c(header.substr(0, at));
  sum = crc32c(std::string_view("\0\0\0\0", kChecksumSize), sum);
  sum = crc32c(header.substr(at + kChecksumSize), sum);
  return sum == big_32(checksum, 0);
}

}  // namespace

std::optional<ProxyError> parse_proxy_extras(std::string_view header, std::size_t begin,
                                             ProxyExtras& extras) {
  std::optional<std::string_view> checksum;
  for (std::string_view rest = header.substr(begin); !rest.empty();) {
    const std::optional<Extra> extra = take(rest);
    if (!extra) return ProxyError::v2_extra_truncated;
    if (const Failure failure = keep_extra(*extra, extras, checksum)) return failure;
  }
  if (checksum && !matches(header, *checksum)) return ProxyError::v2_checksum;
  return {};
}

}  // namespace weir::core
