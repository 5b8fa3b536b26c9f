#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ctl/commands.h"

namespace weir::ctl {

struct Invocation {
  const Command* command;
  std::string socket;
  bool json = false;
  std::map<std::string, std::string, std::less<>> values = {};
};

// Nothing to run: help and the version for stdout, or what is wrong for stderr.
struct NoInvocation {
  int code;
  std::string out;
  std::string err;
};

// `arguments` without the program's name. Reads WEIR_SOCKET, and nothing else.
std::variant<Invocation, NoInvocation> parse_arguments(std::vector<std::string> arguments);

}  // namespace weir::ctl
