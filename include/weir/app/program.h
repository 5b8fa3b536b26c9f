#pragma once

#include <string>
#include <vector>

namespace weir::app {

// How this program was started, to start it again.
struct Program {
  std::string path;                    // absolute; links in it are followed when it is started
  std::vector<std::string> arguments;  // its name first
};

// From what main() is given; looks the name up in $PATH as the shell did.
Program this_program(int argc, const char* const* argv);

}  // namespace weir::app
