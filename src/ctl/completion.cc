#include "ctl/completion.h"

#include <fmt/format.h>

namespace weir::ctl {
namespace {

// One request for what is named, and the names in its answer.
std::vector<std::string> names_in(const Json& body, std::string_view what) {
  std::vector<std::string> names;
  if (what == "listeners") {
    for (const Json& one : list(body, what)) names.push_back(word(field(one, "name")));
  } else if (what == "sessions") {
    for (const Json& one : list(body, what)) names.push_back(word(field(one, "id")));
  }
  for (const Json& pool : list(body, "pools")) {
    if (what == "pools") names.push_back(word(field(pool, "name")));
    if (what != "backends") continue;
    for (const Json& backend : list(pool, "backends")) {
      names.push_back(word(field(pool, "name")) + "/" + word(field(backend, "name")));
    }
  }
  return names;
}

}  // namespace

std::string completing(const Argument& argument, const ShellActions& actions) {
  switch (argument.kind) {
    case Kind::pool:
      return "_weirctl_names pools";
    case Kind::backend:
    case Kind::backend_filter:
      return "_weirctl_names backends";
    case Kind::listener:
      return "_weirctl_names listeners";
    case Kind::session:
      return "_weirctl_names sessions";
    case Kind::file:
      return std::string(actions.files);
    case Kind::choice:
      return fmt::format(fmt::runtime(actions.choices), fmt::join(argument.choices, " "));
    case Kind::flag:
    case Kind::number:
    case Kind::duration:
      return std::string(actions.nothing);
  }
  return std::string(actions.nothing);
}

int completion(const Call& call) {
  say(call.shell, call.value("SHELL") == "bash" ? bash_completion() : zsh_completion());
  return kDone;
}

int complete_names(const Call& call) {
  const std::string what = call.value("WHAT");
  const Reply reply =
      fetch(call.client, {.target = path({what == "backends" ? "pools" : std::string_view(what)})});
  if (!reply.succeeded()) return kFailed;
  for (const std::string& name : names_in(reply.body, what)) say(call.shell, name + "\n");
  return kDone;
}

}  // namespace weir::ctl
