#include "config/addresses.h"

#include <fmt/format.h>
#include <net/if.h>

namespace weir::config {
namespace {

std::optional<core::Endpoint> accept(const core::EndpointResult& parsed, const Scalar& written,
                                     const Key& key, Source& source) {
  if (!parsed) {
    const std::string what = fmt::format("is not an address: {}", parsed.error);
    if (parsed.error.back() == ')') {  // it says what is allowed at this point, which is closer
      source.error(written.at, written.path, fmt::format("{} {}", in_quotes(written.text), what));
    } else {
      source.wrong(written, key, what);
    }
    return std::nullopt;
  }
  const std::string& zone = parsed.endpoint.zone;
  if (!zone.empty() && if_nametoindex(zone.c_str()) == 0) {
    source.wrong(written, key, fmt::format("names a zone that no interface here has: {}", zone));
    return std::nullopt;
  }
  return parsed.endpoint;
}

}  // namespace

std::optional<core::Endpoint> read_bind_address(const Scalar& written, const Key& key,
                                                Source& source) {
  auto endpoint = accept(core::parse_endpoint(written.text), written, key, source);
  if (endpoint && endpoint->kind == core::Endpoint::Kind::name) {
    source.wrong(written, key, "is a name, and weir listens at addresses only");
    return std::nullopt;
  }
  return endpoint;
}

std::optional<core::Endpoint> read_backend_address(const Scalar& written, const Key& key,
                                                   Source& source) {
  return accept(core::parse_endpoint(written.text), written, key, source);
}

std::optional<core::Endpoint> read_source_address(const Scalar& written, const Key& key,
                                                  Source& source) {
  return accept(core::parse_source_address(written.text), written, key, source);
}

std::optional<core::Cidr> read_network(const Scalar& written, const Key& key, Source& source) {
  std::string error;
  auto block = core::Cidr::parse(written.text, error);
  if (!block) source.wrong(written, key, error);
  return block;
}

}  // namespace weir::config
