#pragma once

#include <string>
#include <vector>

#include "ctl/call.h"

// A configuration against the running one: what it would change, and putting it in force.
namespace weir::ctl {

int plan(const Call& call);
int reload(const Call& call);

// One line for what is kept, and one for each change.
std::vector<Line> change_lines(const Json& body);

// `FILE:LINE:COLUMN: PATH: MESSAGE` for each, as weir's own --check says it; warnings with
// `warning: ` after the position.
std::vector<std::string> problem_texts(const Json& problems, const std::string& file,
                                       bool warnings);

}  // namespace weir::ctl
