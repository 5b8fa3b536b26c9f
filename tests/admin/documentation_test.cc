#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/admin/asking.h"
#include "tests/admin/loop_thread.h"
#include "tests/net/scratch_folder.h"
#include "weir/admin/api_server.h"

using namespace weir;
using namespace weir::admin;

namespace {

std::string operations() {
  return net::text_of(std::string(WEIR_SOURCE_DIR) + "/docs/operations.md");
}

// The blocks of shell that call curl.
std::vector<std::string> examples() {
  std::vector<std::string> found;
  std::istringstream lines(operations());
  std::string block;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```sh") {
      inside = true;
      block.clear();
    } else if (line == "```") {
      if (inside && block.rfind("curl --unix-socket \"$WEIR_SOCKET\"", 0) == 0) {
        found.push_back(block);
      }
      inside = false;
    } else if (inside) {
      block += line + "\n";
    }
  }
  return found;
}

// As the documentation writes it: `/v1/pools/P/backends/B`.
std::string documented(std::string pattern) {
  for (const auto& [part, name] : {std::pair("pools/", "P"), std::pair("backends/", "B"),
                                   std::pair("circuit/", "ORDER"), std::pair("sessions/", "ID")}) {
    const std::size_t at = pattern.find(std::string(part) + "*");
    if (at != std::string::npos) pattern.replace(at + std::string(part).size(), 1, name);
  }
  return pattern;
}

}  // namespace

TEST_CASE("every route is in the table of the documentation") {
  const std::string text = operations();
  for (const Route& route : all_routes()) {
    const std::string path = documented(std::string(route.pattern));
    CHECK_MESSAGE(
        text.find("| `" + std::string(route.method) + " " + path + "` |") != std::string::npos,
        path);
  }
}

TEST_CASE("the curl commands of the documentation work as they are written") {
  FakeControl control;
  control.snapshot_ = made_snapshot();
  control.reload_.accepted = true;
  const net::ScratchFolder folder;
  net::write_file(folder.file("weir.yaml"), "workers: 1\n");
  LoopThread thread;
  std::unique_ptr<ApiServer> server;
  thread.on_loop([&] {
    server = std::make_unique<ApiServer>(thread.loop(), control, ApiServer::Scope::full);
    std::string error;
    const auto at = core::parse_endpoint("unix:" + folder.file("s")).endpoint;
    const bool listens = server->listen(at, {.mode = 0600}, error);
    CHECK_MESSAGE(listens, error);
  });
  const std::vector<std::string> commands = examples();
  CHECK(commands.size() >= 10);
  for (const std::string& command : commands) {
    CAPTURE(command);
    net::write_file(folder.file("example.sh"),
                    "cd " + folder.path() + "\nWEIR_SOCKET=" + folder.file("s") + "\n" + command);
    const std::string run =
        "sh " + folder.file("example.sh") + " > " + folder.file("out") + " 2> /dev/null";
    CHECK(std::system(run.c_str()) == 0);
    const Tree tree = Tree::parse(net::text_of(folder.file("out")), nullptr, false);
    CHECK(tree.is_object());
    CHECK_FALSE(tree.contains("error"));
  }
  thread.on_loop([&] { server.reset(); });  // and then nobody orders anything any more
  CHECK(control.orders().size() >= 5);
}
