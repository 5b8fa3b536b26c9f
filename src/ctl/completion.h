#pragma once

#include <string>

#include "ctl/call.h"

namespace weir::ctl {

int completion(const Call& call);
// Names for the scripts, asked from weir. Silent without one: somebody is typing.
int complete_names(const Call& call);

// The scripts, made from the table of commands. Names are completed by `weirctl complete-names`.
std::string bash_completion();
std::string zsh_completion();

}  // namespace weir::ctl
