#pragma once

#include <string>
#include <vector>

#include "ctl/shell.h"

namespace weir::ctl {

// The whole program: parses `arguments` (without the program's name), runs the command, and answers
// the exit code.
int run(std::vector<std::string> arguments, Shell& shell);

}  // namespace weir::ctl
