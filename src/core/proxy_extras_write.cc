#include <cassert>

#include "core/proxy_extras.h"
#include "core/wire_integers.h"

namespace weir::core {
namespace {

// Extras behind the addresses, within what is left for them.
class ExtrasWriter {
 public:
  ExtrasWriter(std::string& header, std::size_t limit) : header_(header), limit_(limit) {}

  void add(ProxyExtraType type, const std::optional<std::string>& value) {
    if (value && fits(value->size())) append_proxy_extra(header_, type, *value);
  }

  void add(const ProxyTls& tls) {
    std::string value;
    value += static_cast<char>(tls.client);
    append_big_32(value, tls.verify);
    ExtrasWriter parts(value, kProxyV2Limit);
    parts.add(ProxyExtraType::tls_version, tls.version);
    parts.add(ProxyExtraType::tls_common_name, tls.common_name);
    parts.add(ProxyExtraType::tls_cipher, tls.cipher);
    parts.add(ProxyExtraType::tls_signature_algorithm, tls.signature_algorithm);
    parts.add(ProxyExtraType::tls_key_algorithm, tls.key_algorithm);
    add(ProxyExtraType::tls, parts.whole_ ? std::optional(value) : std::nullopt);
  }

 private:
  bool fits(std::size_t size) {
    const std::size_t left = limit_ - header_.size();
    const bool fits = left >= kProxyExtraHead && size <= left - kProxyExtraHead;
    whole_ = whole_ && fits;
    return fits;
  }

  std::string& header_;
  std::size_t limit_;
  bool whole_ = true;  // nothing was left out
};

}  // namespace

void append_proxy_extra(std::string& header, ProxyExtraType type, std::string_view value) {
  assert(value.size() <= 0xffff);
  header += static_cast<char>(type);
  append_big_16(header, static_cast<std::uint16_t>(value.size()));
  header += value;
}

void append_proxy_extras(std::string& header, const ProxyExtras& extras, std::size_t limit) {
  ExtrasWriter writer(header, limit);
  writer.add(ProxyExtraType::authority, extras.authority);
  if (extras.unique_id && extras.unique_id->size() <= kProxyUniqueIdLimit) {
    writer.add(ProxyExtraType::unique_id, extras.unique_id);
  }
  writer.add(ProxyExtraType::alpn, extras.alpn);
  if (extras.tls) writer.add(*extras.tls);
  writer.add(ProxyExtraType::netns, extras.netns);
}

}  // namespace weir::core
