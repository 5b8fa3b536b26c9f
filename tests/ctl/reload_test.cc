#include "ctl/reload.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "tests/ctl/typed.h"

using namespace weir::ctl;

namespace {

constexpr const char* kChanges =
    R"("changes":[
        {"kind":"process","name":"","action":"kept","keys":[]},
        {"kind":"listener","name":"orders","action":"kept","keys":[]},
        {"kind":"pool","name":"orders","action":"retuned","keys":[
          {"key":"timeouts.connect","from":"5s","to":"3s"},
          {"key":"resilience.max_fails","from":1,"to":5}]},
        {"kind":"backend","name":"orders/pg-a","action":"kept","keys":[]},
        {"kind":"backend","name":"orders/pg-b","action":"kept","keys":[]},
        {"kind":"backend","name":"orders/pg-c","action":"added","keys":[]},
        {"kind":"backend","name":"orders/pg-d","action":"drained","keys":[]},
        {"kind":"backend","name":"orders/pg-e","action":"reset",
         "keys":[{"key":"address","from":"10.0.0.1:1","to":null}]}],"errors":[])";

std::string answer(const std::string& more) { return fmt::format("{{{}{}}}", kChanges, more); }

constexpr const char* kRefusal =
    R"({"errors":[
        {"line":3,"column":48,"path":"listeners[0].pool","message":"no pool is named x"},
        {"line":1,"column":1,"path":"","message":"not YAML"}]})";

constexpr const char* kLines =
    "kept: 1 listener, 2 backends\n"
    "retuned   pool orders  timeouts.connect: 5s -> 3s, resilience.max_fails: 1 -> 5\n"
    "added     backend orders/pg-c\n"
    "drained   backend orders/pg-d\n"
    "reset     backend orders/pg-e  address: 10.0.0.1:1 -> -\n";

// A file in the folder of the scripted weir, which removes it.
std::string write_file(const FakeAdmin& weir, const std::string& text) {
  const std::string name = weir.socket() + ".yaml";
  std::FILE* file = std::fopen(name.c_str(), "w");
  std::fputs(text.c_str(), file);
  std::fclose(file);
  return name;
}

}  // namespace

TEST_CASE("reload: a plan is one line for what is kept, and one for each change") {
  FakeAdmin weir;
  weir.answers("POST /v1/plan", answer(""));
  const std::string file = write_file(weir, "workers: 2\n");
  const Typed result = typed(weir, {"plan", file});
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  CHECK(result.out == kLines);
  CHECK(weir.seen().front().body == "workers: 2\n");
}

TEST_CASE("reload: with FILE its text is sent, without weir reads its own") {
  FakeAdmin weir;
  weir.answers("POST /v1/reload", answer(R"(,"config_generation":4)"));
  const std::string file = write_file(weir, "workers: 2\n");
  const Typed result = typed(weir, {"reload", file});
  CHECK(result.out == fmt::format("{}reloaded, generation 4\n", kLines));
  CHECK(typed(weir, {"reload"}).code == 0);
  CHECK(weir.seen()[0].body == "workers: 2\n");
  CHECK(weir.seen()[1].body.empty());
}

TEST_CASE("reload: - is standard input") {
  FakeAdmin weir;
  weir.answers("POST /v1/plan", kRefusal, 409);
  const Typed result = typed(weir, {"plan", "-"}, {.input = "workers: 3\n"});
  CHECK(weir.seen().front().body == "workers: 3\n");
  CHECK(result.err.starts_with("stdin:3:48: "));
}

TEST_CASE("reload: every error of a refused file is told with its place") {
  FakeAdmin weir;
  for (const char* verb : {"plan", "reload"}) {
    weir.answers(std::string("POST /v1/") + verb, kRefusal, 409);
    const std::string file = write_file(weir, "x: 1\n");
    const Typed result = typed(weir, {verb, file});
    CHECK(result.code == 1);
    CHECK(result.out.empty());
    CHECK(result.err ==
          file + ":3:48: listeners[0].pool: no pool is named x\n" + file + ":1:1: not YAML\n");
    const Typed json = typed(weir, {verb, file, "--json"});
    CHECK(json.code == 1);
    CHECK(Json::parse(json.out) == Json::parse(kRefusal));
  }
}

TEST_CASE("reload: errors in weir's own file name it where weir says its name") {
  FakeAdmin weir;
  weir.answers(
      "POST /v1/reload",
      R"({"file":"/etc/weir.yaml","errors":[{"line":2,"column":1,"path":"a","message":"b"}]})",
      409);
  weir.answers("POST /v1/reload", R"({"errors":[{"line":2,"column":1,"path":"a","message":"b"}]})",
               409);
  CHECK(typed(weir, {"reload"}).err == "/etc/weir.yaml:2:1: a: b\n");
  CHECK(typed(weir, {"reload"}).err == "FILE:2:1: a: b\n");
}

TEST_CASE("reload: warnings are told and change no exit code") {
  FakeAdmin weir;
  weir.answers("POST /v1/reload", answer(R"(,"config_generation":4,"warnings":[
      {"line":2,"column":5,"path":"pools[0]","message":"one backend only"},"and so on"])"));
  const std::string file = write_file(weir, "x: 1\n");
  const Typed result = typed(weir, {"reload", file});
  CHECK(result.code == 0);
  CHECK(result.err ==
        file + ":2:5: warning: pools[0]: one backend only\n" + file + ": warning: and so on\n");
}

TEST_CASE("reload: a conflict or a file too large is told in weir's words") {
  FakeAdmin weir;
  weir.answers("POST /v1/reload", R"({"error":{"code":"conflict","message":"weir is draining"}})",
               409);
  weir.answers("POST /v1/plan", R"({"error":{"code":"too_large","message":"more than 4 MiB"}})",
               413);
  const std::string file = write_file(weir, "x: 1\n");
  CHECK(typed(weir, {"reload", file}).err == "weirctl: weir is draining\n");
  const Typed large = typed(weir, {"plan", file});
  CHECK(large.err == "weirctl: more than 4 MiB\n");
  CHECK(large.code == 1);
}

TEST_CASE("reload: a file that cannot be read, or is empty, is not sent") {
  FakeAdmin weir;
  const std::string missing = weir.socket() + ".missing";
  const Typed result = typed(weir, {"reload", missing});
  CHECK(result.code == 1);
  CHECK(result.err == "weirctl: cannot read " + missing + ": No such file or directory\n");
  const std::string folder = missing.substr(0, missing.rfind('/'));
  CHECK(typed(weir, {"reload", folder}).err ==
        "weirctl: cannot read " + folder + ": Is a directory\n");
  const std::string empty = write_file(weir, "");
  CHECK(typed(weir, {"reload", empty}).err == "weirctl: " + empty + " is empty\n");
  CHECK(weir.requests().empty());
}

TEST_CASE("reload: with nothing kept and nothing changed it says so") {
  CHECK(text_of(change_lines(Json::parse(R"({"changes":[]})")), false) == "kept: nothing\n");
}
