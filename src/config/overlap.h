#pragma once

#include <vector>

#include "config/draft.h"

namespace weir::config {

// Reports each address that another one before it in `bound` already covers: the same one, or
// `0.0.0.0` and
// `[::]` against any other of their port. The kernel would not say so, because every worker opens
// its own socket with SO_REUSEPORT, and clients would land on either listener by chance.
//
// `[::]` takes IPv4 too unless the same listener binds `0.0.0.0` with this port: only then it is
// kept to IPv6.
void check_overlaps(const std::vector<BoundAddress>& bound, Source& source);

}  // namespace weir::config
