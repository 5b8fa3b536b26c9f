#include "ctl/completion.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "ctl/commands.h"
#include "tests/ctl/answers.h"
#include "tests/ctl/child.h"
#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

using Words = std::set<std::string>;

struct Weir : FakeAdmin {
  Weir() {
    answers("GET /v1/listeners", answers::listeners);
    answers("GET /v1/pools", std::string(R"({"pools":[)") + answers::pool + "]}");
    answers("GET /v1/sessions", answers::sessions);
  }
};

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

// What bash offers for the last of these words, which follow the program's name.
Words offered(const std::string& words, const std::string& socket = "/nobody/here") {
  const std::string script = fmt::format(
      "source <('{0}' completion bash) || exit 9\n"
      "export WEIR_SOCKET='{1}'\n"
      "COMP_WORDS=(weirctl {2})\n"
      "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
      "_weirctl '{0}' \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "[ ${{#COMPREPLY[@]}} -eq 0 ] || printf '%s\\n' \"${{COMPREPLY[@]}}\"",
      WEIRCTL_BINARY, socket, words);
  const Child::Ended ended = Child({"bash", "--norc", "-c", script}).end();
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  return lines_of(ended.out);
}

}  // namespace

TEST_CASE("completion: bash takes the script") {
  const Child::Ended ended =
      Child({"bash", "-c",
             fmt::format("'{}' completion bash | bash -n && echo good", WEIRCTL_BINARY)})
          .end();
  CHECK(ended.err.empty());
  CHECK(ended.out == "good\n");
}

TEST_CASE("completion: zsh takes the script" *
          doctest::skip(std::system("command -v zsh >/dev/null") != 0)) {
  const Child::Ended ended =
      Child({"zsh", "-f", "-c",
             fmt::format("autoload -U compinit && compinit -D -u && source <('{0}' completion zsh) "
                         "&& '{0}' completion zsh | zsh -n && print $_comps[weirctl]",
                         WEIRCTL_BINARY)})
          .end();
  CHECK(ended.err.empty());
  CHECK(ended.out == "_weirctl\n");
}

TEST_CASE("completion: every command and option is in both scripts, the hidden one not offered") {
  const Words commands_offered = offered("''");
  for (const Command& command : commands()) {
    CHECK(commands_offered.contains(command.name) == !command.hidden);
    if (command.hidden) continue;
    CHECK(zsh_completion().find("'" + command.name + ":") != std::string::npos);
    const Words options = offered(command.name + " --");
    for (const Argument& option : command.options) {
      CHECK(options.contains(option.name));
      CHECK(zsh_completion().find("'" + option.name + "[") != std::string::npos);
    }
    CHECK(options.contains("--socket"));
    CHECK(options.contains("--help"));
  }
}

TEST_CASE("completion: the beginning of a word chooses") {
  CHECK(offered("s") == Words{"status", "sessions", "shutdown"});
  CHECK(offered("--so") == Words{"--socket"});
  CHECK(offered("drain --w") == Words{"--wait"});
  CHECK(offered("completion ''") == Words{"bash", "zsh"});
  CHECK(offered("circuit a/b ''") == Words{"open", "close", "bypass", "auto"});
  CHECK(offered("circuit a/b b") == Words{"bypass"});
  CHECK(offered("status x ''").empty());
}

TEST_CASE("completion: names are those of the running weir") {
  const Weir weir;
  const Words backends{"orders/pg-a", "orders/pg-b"};
  CHECK(offered("drain ''", weir.socket()) == backends);
  CHECK(offered("drain --wait orders/", weir.socket()) == backends);
  CHECK(offered("drain --deadline 30s ''", weir.socket()) == backends);
  CHECK(offered("circuit orders/pg-b", weir.socket()) == Words{"orders/pg-b"});
  CHECK(offered("why ''", weir.socket()) == Words{"orders"});
  CHECK(offered("backends o", weir.socket()) == Words{"orders"});
  CHECK(offered("kill ''", weir.socket()) == Words{"41", "42"});
  CHECK(offered("kill --backend ''", weir.socket()) == backends);
  CHECK(offered("sessions --listener ''", weir.socket()) == Words{"orders"});
  CHECK(offered("sessions --pool ''", weir.socket()) == Words{"orders"});
  CHECK(offered("sessions --limit ''", weir.socket()).empty());
}

TEST_CASE("completion: names come from the socket on the line, as readline splits it") {
  const Weir weir;
  CHECK(offered("--socket " + weir.socket() + " why ''") == Words{"orders"});
  CHECK(offered("--socket = " + weir.socket() + " why ''") == Words{"orders"});
  CHECK(offered("--json why ''", weir.socket()) == Words{"orders"});
}

TEST_CASE("completion: files where a file belongs") {
  const Weir weir;
  const std::string folder = weir.socket().substr(0, weir.socket().rfind('/') + 1);
  const Words files{folder + "admin.sock"};
  CHECK(offered("reload " + folder) == files);
  CHECK(offered("plan " + folder) == files);
  CHECK(offered("--socket " + folder) == files);
}

TEST_CASE("completion: without a weir there are no names, and no words about it") {
  CHECK(offered("drain ''").empty());
  const Typed result = typed({"--socket", "/nobody/here", "complete-names", "pools"});
  CHECK(result.code == 1);
  CHECK(result.out.empty());
  CHECK(result.err.empty());
}
