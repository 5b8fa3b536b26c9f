#include "ctl/commands.h"

#include <fmt/format.h>

#include "ctl/completion.h"
#include "ctl/events.h"
#include "ctl/orders.h"
#include "ctl/reload.h"
#include "ctl/show.h"
#include "ctl/top.h"

namespace weir::ctl {
namespace {

const Argument kBackend{"BACKEND", Kind::backend, true, "the backend, as POOL/BACKEND"};

std::vector<Command> table() {
  return {
      {"status", "what runs: version, pid, uptime, generation, sessions", {}, {}, &status},
      {"health", "a verdict on each pool, and the state of each backend", {}, {}, &health},
      {"listeners", "each listener's addresses, connections and totals", {}, {}, &listeners},
      {"pools", "each pool's sessions, queue, limits and refusals", {}, {}, &pools},
      {"backends",
       "each backend's state, circuit, sessions and dials",
       {{"POOL", Kind::pool, false, "of this pool only"}},
       {},
       &backends},
      {"sessions",
       "the sessions that run now",
       {},
       {{"--pool", Kind::pool, false, "of this pool"},
        {"--backend", Kind::backend_filter, false, "on this backend, as POOL/BACKEND or BACKEND"},
        {"--listener", Kind::listener, false, "of this listener"},
        {"--limit", Kind::number, false, "so many at most"}},
       &sessions},
      {"kill",
       "close one session, or all of a backend",
       {{"ID", Kind::session, false, "the session's number"}},
       {{"--backend", Kind::backend, false, "all sessions of this backend, as POOL/BACKEND"}},
       &kill},
      {"drain",
       "take no new sessions on a backend, and end the old by a deadline",
       {kBackend},
       {{"--deadline", Kind::duration, false, "how long the old may take, as 30s or 5m"},
        {"--wait", Kind::flag, false, "return when no session is left"}},
       &drain},
      {"disable", "take no new sessions on a backend, and keep the old", {kBackend}, {}, &disable},
      {"enable", "take new sessions on a backend again", {kBackend}, {}, &enable},
      {"circuit",
       "override a backend's circuit, or give it back",
       {kBackend,
        {"ACTION",
         Kind::choice,
         true,
         "open: refuse; close: begin anew; bypass: let all through; auto: by its own rules again",
         {"open", "close", "bypass", "auto"}}},
       {},
       &circuit},
      {"why",
       "for each backend of a pool: eligible, or what keeps sessions away",
       {{"POOL", Kind::pool, true, "the pool"}},
       {},
       &why},
      {"plan",
       "what a reload of a file would do; changes nothing",
       {{"FILE", Kind::file, true, "a configuration file; - is standard input"}},
       {},
       &plan},
      {"reload",
       "put a configuration in force, or say why not",
       {{"FILE", Kind::file, false, "send this file; without it weir reads its own file again"}},
       {},
       &reload},
      {"events",
       "the journal: circuits, health, reloads, drains, each with its cause",
       {},
       {{"--follow", Kind::flag, false, "go on with what happens, until Ctrl-C"},
        {"--since", Kind::number, false, "only what came after the event of this number"}},
       &events},
      {"top",
       "a live screen of listeners, pools, backends and events; q quits",
       {},
       {{"--once", Kind::flag, false, "print one screen as plain text, after a second"}},
       &top},
      {"shutdown", "drain weir and let it exit", {}, {}, &shutdown},
      {"config", "the configuration in force, defaults filled in", {}, {}, &config},
      {"completion",
       "print a completion script for a shell",
       {{"SHELL", Kind::choice, true, "the shell", {"bash", "zsh"}}},
       {},
       &completion},
      {"complete-names",
       "names for completion scripts, one a line",
       {{"WHAT",
         Kind::choice,
         true,
         "what is named",
         {"pools", "backends", "listeners", "sessions"}}},
       {},
       &complete_names,
       true},
  };
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all = table();
  return all;
}

std::string placeholder(const Argument& argument) {
  switch (argument.kind) {
    case Kind::flag:
      return "";
    case Kind::pool:
      return "POOL";
    case Kind::backend:
    case Kind::backend_filter:
      return "POOL/BACKEND";
    case Kind::listener:
      return "LISTENER";
    case Kind::session:
      return "ID";
    case Kind::file:
      return "FILE";
    case Kind::number:
      return "N";
    case Kind::duration:
      return "DURATION";
    case Kind::choice:
      return fmt::format("{}", fmt::join(argument.choices, "|"));
  }
  return "";
}

}  // namespace weir::ctl
