#pragma once

#include <string_view>

#include "weir/core/proxy_header_parse.h"

namespace weir::core {

inline constexpr std::string_view kProxyV1Signature = "PROXY";

// `stream` begins with the signature.
ProxyParse parse_proxy_v1(std::string_view stream);

}  // namespace weir::core
