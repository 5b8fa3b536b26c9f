#include "ctl/arguments.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

Invocation good(std::vector<std::string> arguments) {
  auto parsed = parse_arguments(std::move(arguments));
  REQUIRE(std::holds_alternative<Invocation>(parsed));
  return std::get<Invocation>(parsed);
}

}  // namespace

TEST_CASE("arguments: the socket is the option, then WEIR_SOCKET, then the usual place") {
  ::unsetenv("WEIR_SOCKET");
  CHECK(good({"status"}).socket == "/run/weir/admin.sock");
  ::setenv("WEIR_SOCKET", "/tmp/other", 1);
  CHECK(good({"status"}).socket == "/tmp/other");
  CHECK(good({"--socket", "/tmp/third", "status"}).socket == "/tmp/third");
  CHECK(good({"status", "--socket=/tmp/third"}).socket == "/tmp/third");
  ::setenv("WEIR_SOCKET", "", 1);
  CHECK(good({"status"}).socket == "/run/weir/admin.sock");
  ::unsetenv("WEIR_SOCKET");
}

TEST_CASE("arguments: what was given is there by name, and nothing else") {
  const Invocation drain = good({"drain", "orders/pg-a", "--deadline", "30s", "--wait"});
  CHECK(drain.command->name == "drain");
  CHECK(drain.values.size() == 3);
  CHECK(drain.values.at("BACKEND") == "orders/pg-a");
  CHECK(drain.values.at("--deadline") == "30s");
  CHECK(drain.values.contains("--wait"));
  CHECK(good({"backends"}).values.empty());
  CHECK(!good({"status"}).json);
  CHECK(good({"--json", "status"}).json);
}

TEST_CASE("arguments: a pool may be named as a command or an option is") {
  CHECK(good({"why", "status"}).values.at("POOL") == "status");
  CHECK(good({"backends", "top"}).values.at("POOL") == "top");
  CHECK(good({"why", "--", "--json"}).values.at("POOL") == "--json");
}

TEST_CASE("arguments: wrong usage is told on stderr with code 2, and nothing is asked") {
  const FakeAdmin weir;
  const std::vector<std::vector<std::string>> wrong{
      {},
      {"statuus"},
      {"--jsn", "status"},
      {"status", "now"},
      {"status", "health"},
      {"--socket"},
      {"--socket", "", "status"},
      {"sessions", "--limit", "many"},
      {"sessions", "--limit", "-1"},
      {"kill"},
      {"kill", "abc"},
      {"kill", "1", "--backend", "a/b"},
      {"kill", "--backend", "b"},
      {"drain"},
      {"drain", "pg-a"},
      {"drain", "/pg-a"},
      {"drain", "orders/"},
      {"drain", "a/b/c"},
      {"drain", "a/b", "--deadline"},
      {"circuit", "a/b"},
      {"circuit", "a/b", "shut"},
      {"why"},
      {"why", ""},
      {"plan"},
      {"events", "--since", "yesterday"},
      {"completion", "fish"},
      {"top"},
      {"top", "--once", "--json"},
  };
  for (const auto& arguments : wrong) {
    const Typed result = typed(weir, arguments);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(result.err.starts_with("weirctl: "));
    CHECK(result.err.find('\n') == result.err.size() - 1);
  }
  CHECK(weir.requests().empty());
  CHECK(typed({"statuus"}).err == "weirctl: there is no command statuus (see weirctl --help)\n");
}

TEST_CASE("arguments: help and the version go to stdout with code 0") {
  CHECK(typed({"--version"}).out == "weirctl " WEIR_VERSION "\n");
  const Typed help = typed({"--help"});
  CHECK(help.code == 0);
  CHECK(help.err.empty());
  for (const Command& command : commands()) {
    CHECK((help.out.find("\n  " + command.name + " ") != std::string::npos) == !command.hidden);
  }
  for (const char* option : {"--socket PATH", "WEIR_SOCKET", "--json", "--version", "--help"}) {
    CHECK(help.out.find(option) != std::string::npos);
  }
  for (const Command& command : commands()) {
    const Typed one = typed({command.name, "--help"});
    CHECK(one.code == 0);
    CHECK(one.out.find(command.about) != std::string::npos);
    for (const Argument& option : command.options) {
      CHECK(one.out.find(option.name) != std::string::npos);
    }
  }
}

TEST_CASE("arguments: every command and argument says what it is for in one line") {
  for (const Command& command : commands()) {
    CHECK(!command.about.empty());
    CHECK(command.about.size() <= 70);
    for (const auto& group : {command.positionals, command.options}) {
      for (const Argument& argument : group) CHECK(!argument.about.empty());
    }
  }
}
