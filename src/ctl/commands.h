#pragma once

#include <string>
#include <vector>

#include "ctl/call.h"

// The table of commands: what is parsed, what --help says, what a shell completes, and what runs.
namespace weir::ctl {

// What stands in an argument: it is checked by that, and completed by it.
enum class Kind {
  flag,
  pool,
  backend,         // P/B
  backend_filter,  // P/B or B
  listener,
  session,
  file,
  number,
  duration,
  choice,
};

struct Argument {
  std::string name;  // `POOL`, or `--pool`
  Kind kind = Kind::flag;
  bool required = false;
  std::string about;
  std::vector<std::string> choices = {};
};

struct Command {
  std::string name;
  std::string about;
  std::vector<Argument> positionals;
  std::vector<Argument> options;
  int (*run)(const Call& call);  // answers the exit code
  bool hidden = false;
};

const std::vector<Command>& commands();

// What stands for an argument in a text: `POOL`, `POOL/BACKEND`, `open|close`.
std::string placeholder(const Argument& argument);

}  // namespace weir::ctl
