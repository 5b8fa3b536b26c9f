#pragma once

#include <string_view>

namespace weir::admin {

// The page at `/` of `http.listen`, made of src/admin/dashboard at build time: one answer, which
// asks for nothing but the API beside it.
extern const std::string_view kDashboardPage;
// Its Content-Security-Policy: its own style and script by their hashes, and nothing else.
extern const std::string_view kDashboardPolicy;

}  // namespace weir::admin
