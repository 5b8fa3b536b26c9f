#pragma once

#include <optional>
#include <string_view>

#include "config/node.h"
#include "config/problems.h"

namespace weir::config {

// Text to a tree. The tree is built from yaml-cpp's events rather than from its nodes: it keeps
// both of two equal keys, and an alias is reported where it stands instead of being followed, so
// that no file can unfold into more memory than it has text. Absent when the text cannot be read
// as one YAML document; the reason is then the only problem.
[[nodiscard]] std::optional<Node> parse_document(std::string_view text, Problems& problems);

}  // namespace weir::config
