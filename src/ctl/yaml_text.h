#pragma once

#include <vector>

#include "ctl/fields.h"
#include "ctl/lines.h"

namespace weir::ctl {

// JSON as the YAML that a configuration file is written in: what `weirctl config` prints can be
// saved and run.
std::vector<Line> yaml_lines(const Json& value);

}  // namespace weir::ctl
