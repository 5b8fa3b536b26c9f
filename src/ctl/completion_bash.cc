#include <fmt/format.h>

#include "ctl/commands.h"
#include "ctl/completion.h"

namespace weir::ctl {
namespace {

// What bash runs for an argument: one of the functions below.
std::string action_of(const Argument& argument) {
  return completing(argument, {"_weirctl_files", "_weirctl_words '{}'", ":"});
}

std::string options_of(const Command& command) {
  std::string words;
  for (const Argument& option : command.options) words += option.name + " ";
  return words;
}

// `drain:--deadline) :;;` and `drain:0) _weirctl_names backends;;`
std::string cases() {
  std::string text;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    for (const Argument& option : command.options) {
      if (option.kind == Kind::flag) continue;
      text += fmt::format("    {}:{}) {} ;;\n", command.name, option.name, action_of(option));
    }
    for (std::size_t i = 0; i < command.positionals.size(); ++i) {
      text += fmt::format("    {}:{}) {} ;;\n", command.name, i, action_of(command.positionals[i]));
    }
  }
  return text;
}

std::string options_table() {
  std::string text;
  for (const Command& command : commands()) {
    if (command.hidden || command.options.empty()) continue;
    text += fmt::format("    {}) options='{}' ;;\n", command.name, options_of(command));
  }
  return text;
}

// Those options that take a value, so that the value is not counted as an argument.
std::string valued() {
  std::string text = "--socket";
  for (const Command& command : commands()) {
    for (const Argument& option : command.options) {
      // `kill --backend` and `sessions --backend` alike: a pattern may stand twice.
      if (option.kind != Kind::flag) text += "|" + option.name;
    }
  }
  return text;
}

std::string names() {
  std::string text;
  for (const Command& command : commands()) {
    if (!command.hidden) text += (text.empty() ? "" : " ") + command.name;
  }
  return text;
}

}  // namespace

std::string bash_completion() {
  return R"bash(# bash completion of weirctl. To have it in every shell: weirctl completion bash >
# ~/.local/share/bash-completion/completions/weirctl; in this one: eval "$(weirctl completion bash)"

_weirctl_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$word"); }

_weirctl_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

_weirctl_names() {
  _weirctl_words "$("$program" "${socket[@]}" complete-names "$1" 2>/dev/null)"
}

_weirctl() {
  local program=$1 word=${COMP_WORDS[COMP_CWORD]} before= command= count=0 options= i
  local socket=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    # readline splits --socket=PATH at the =.
    if [[ ${COMP_WORDS[i]} == = ]]; then continue; fi
    case $before in
      --socket) socket=(--socket "${COMP_WORDS[i]}"); before=; continue ;;
      )bash" +
         valued() + R"bash() before=; continue ;;
    esac
    before=${COMP_WORDS[i]}
    case $before in
      -*) ;;
      *) if [[ -z $command ]]; then command=$before; else count=$((count + 1)); fi ;;
    esac
  done
  if [[ $word == = ]]; then word=; fi
  case $before in
    --socket) _weirctl_files; return ;;
    )bash" +
         valued() + R"bash() ;;
    *) before=$count ;;
  esac
  if [[ $word == -* && $before == "$count" ]]; then
    case $command in
)bash" + options_table() +
         R"bash(    esac
    _weirctl_words "$options --socket --json --help --version"
    return
  fi
  case $command:$before in
    :*) _weirctl_words ')bash" +
         names() + R"bash(' ;;
)bash" + cases() +
         R"bash(  esac
}

complete -F _weirctl weirctl
)bash";
}

}  // namespace weir::ctl
