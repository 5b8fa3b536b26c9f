#include <fmt/format.h>

#include "ctl/commands.h"
#include "ctl/completion.h"

namespace weir::ctl {
namespace {

// What stands in a specification of _arguments, in single quotes.
std::string single_quoted(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    if (byte == '\'') {
      result += "'\\''";
      continue;
    }
    if (byte == ':' || byte == '[' || byte == ']' || byte == '\\') result += '\\';
    result += byte;
  }
  return result;
}

std::string action_of(const Argument& argument) {
  return completing(argument, {"_files", "({})", " "});
}

std::string specifications(const Command& command) {
  std::string text;
  for (const Argument& option : command.options) {
    text += fmt::format(" '{}[{}]", option.name, single_quoted(option.about));
    if (option.kind != Kind::flag) {
      text += fmt::format(":{}:{}", single_quoted(placeholder(option)), action_of(option));
    }
    text += "'";
  }
  for (const Argument& one : command.positionals) {
    text += fmt::format(" '{}{}:{}'", one.required ? ":" : "::", single_quoted(one.about),
                        action_of(one));
  }
  return text;
}

}  // namespace

std::string zsh_completion() {
  std::string names;
  std::string cases;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    names += fmt::format("    '{}:{}'\n", command.name, single_quoted(command.about));
    if (const std::string all = specifications(command); !all.empty()) {
      cases += fmt::format("    {}) _arguments $global{} ;;\n", command.name, all);
    }
  }
  return R"zsh(#compdef weirctl
# zsh completion of weirctl. Save it as _weirctl in a folder of $fpath, or in this shell:
# source <(weirctl completion zsh)

_weirctl_names() {
  local -a names
  if (( ${+opt_args[--socket]} )); then socket=(--socket "${opt_args[--socket]}"); fi
  # _arguments puts options for compadd before what is asked for.
  names=(${(f)"$(weirctl $socket complete-names $@[-1] 2>/dev/null)"})
  compadd "${@[1,-2]}" -a names
}

_weirctl() {
  local curcontext=$curcontext state line
  local -A opt_args
  local -a commands global socket
  global=('--socket[the admin socket]:PATH:_files' '--json[print JSON]' '--help[help]')
  commands=(
)zsh" + names +
         R"zsh(  )
  _arguments -C $global '--version[the version]' '1:command:->command' '*::argument:->argument'
  # What follows the command is looked at apart, and knows no option before it.
  if (( ${+opt_args[--socket]} )); then socket=(--socket "${opt_args[--socket]}"); fi
  case $state in
    command) _describe command commands; return ;;
  esac
  case $line[1] in
)zsh" + cases +
         R"zsh(    *) _arguments $global ;;
  esac
}

if (( $+functions[compdef] )); then compdef _weirctl weirctl; fi
)zsh";
}

}  // namespace weir::ctl
