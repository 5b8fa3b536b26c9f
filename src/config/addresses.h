#pragma once

#include <optional>

#include "config/source.h"
#include "weir/core/cidr.h"
#include "weir/core/endpoint.h"

// Addresses of the file. A zone must be an interface of this machine now: systems take unknown ones
// silently, and the error would then come with the first connection.
namespace weir::config {

// An address to listen at, which is not a name.
std::optional<core::Endpoint> read_bind_address(const Scalar& written, const Key& key,
                                                Source& source);

// An address to dial.
std::optional<core::Endpoint> read_backend_address(const Scalar& written, const Key& key,
                                                   Source& source);

// An address to dial from, without a port.
std::optional<core::Endpoint> read_source_address(const Scalar& written, const Key& key,
                                                  Source& source);

// A block of addresses.
std::optional<core::Cidr> read_network(const Scalar& written, const Key& key, Source& source);

}  // namespace weir::config
