#pragma once

#include <string>
#include <string_view>

#include "ctl/call.h"
#include "ctl/commands.h"

namespace weir::ctl {

int completion(const Call& call);
// Names for the scripts, asked from weir. Silent without one: somebody is typing.
int complete_names(const Call& call);

// How a shell completes what is no name of weir's; `choices` has `{}` for the words.
struct ShellActions {
  std::string_view files;
  std::string_view choices;
  std::string_view nothing;
};
// What the shell runs for an argument.
std::string completing(const Argument& argument, const ShellActions& actions);

// The scripts, made from the table of commands. Names are completed by `weirctl complete-names`.
std::string bash_completion();
std::string zsh_completion();

}  // namespace weir::ctl
