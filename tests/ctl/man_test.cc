#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "ctl/commands.h"
#include "tests/ctl/child.h"

// The manual pages, against the programs that they are about.
using namespace weir::ctl;

namespace {

std::string file(const std::string& name) {
  std::ifstream stream(std::string(WEIR_SOURCE_DIR "/") + name);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// A page's text with its hyphens as they are typed.
std::string page(const std::string& name) {
  return std::regex_replace(file("docs/man/" + name), std::regex(R"(\\-)"), "-");
}

// Whether a line of a page's headings begins with this command.
bool explains(const std::string& text, const std::string& command) {
  return std::regex_search(text, std::regex(R"((^|\n)\.T[PQ]\n(\.B |\\fB))" + command + R"(\b)"));
}

}  // namespace

TEST_CASE("man: groff finds nothing wrong with the pages" *
          doctest::skip(std::system("command -v groff >/dev/null") != 0)) {
  for (const char* name : {"weir.1", "weirctl.1"}) {
    const Child::Ended ended = Child({"groff", "-man", "-Tutf8", "-ww", "-z",
                                      std::string(WEIR_SOURCE_DIR "/docs/man/") + name})
                                   .end();
    CHECK(ended.code == 0);
    CHECK(ended.err.empty());
  }
}

TEST_CASE("man: weirctl's page has every command with all it takes") {
  const std::string text = page("weirctl.1");
  for (const Command& command : commands()) {
    INFO(command.name);
    CHECK(explains(text, command.name) == !command.hidden);
    for (const Argument& option : command.options) {
      INFO(option.name);
      CHECK(text.find(option.name) != std::string::npos);
    }
    for (const Argument& one : command.positionals) {
      for (const std::string& choice : one.choices) {
        CHECK((command.hidden || text.find(choice) != std::string::npos));
      }
    }
  }
  for (const char* word : {"--socket", "--json", "--version", "--help", "WEIR_SOCKET", "NO_COLOR",
                           "/run/weir/admin.sock"}) {
    CHECK(text.find(word) != std::string::npos);
  }
}

TEST_CASE("man: weir's page has every option, signal and exit code") {
  const std::string text = page("weir.1");
  const std::string source = file("src/app/main.cc");
  // "-c,--config", "--check": what weir's main gives to its parser.
  const std::regex option(R"re((?:add_option|add_flag|version_flag)\("(?:(-\w),)?(--\w+)")re");
  int found = 0;
  for (std::sregex_iterator one(source.begin(), source.end(), option), end; one != end; ++one) {
    INFO(one->str());
    ++found;
    CHECK(text.find(one->str(2)) != std::string::npos);
    CHECK(text.find(one->str(1)) != std::string::npos);
  }
  CHECK(found >= 4);
  for (const char* word :
       {"SIGHUP", "SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2", "\n.B 0\n", "\n.B 1\n", "\n.B 2\n"}) {
    CHECK(text.find(word) != std::string::npos);
  }
}
