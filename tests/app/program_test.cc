#include "weir/app/program.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::app;

namespace {

Program started_as(std::vector<const char*> arguments) {
  return this_program(static_cast<int>(arguments.size()), arguments.data());
}

void make_program(const std::string& path, mode_t mode = 0755) {
  std::ofstream(path) << "#!/bin/sh\n";
  ::chmod(path.c_str(), mode);
}

// $PATH as the test wants it, for a while.
class SearchPath {
 public:
  explicit SearchPath(const std::string& value) : before_(std::getenv("PATH")) {
    ::setenv("PATH", value.c_str(), 1);
  }
  ~SearchPath() { ::setenv("PATH", before_.c_str(), 1); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;

 private:
  const std::string before_;
};

}  // namespace

TEST_CASE("a program keeps its arguments as they were") {
  const Program program = started_as({"/usr/bin/weir", "-c", "weir.yaml", ""});
  CHECK(program.path == "/usr/bin/weir");
  CHECK(program.arguments == std::vector<std::string>{"/usr/bin/weir", "-c", "weir.yaml", ""});
}

TEST_CASE("a path with a slash is the program, from where it was started") {
  const std::string here = std::filesystem::current_path().string();
  CHECK(started_as({"./build/../weir"}).path == here + "/weir");
  CHECK(started_as({"bin/weir"}).path == here + "/bin/weir");
}

TEST_CASE("links are left in the path: they are followed when it is started again") {
  const net::ScratchFolder folder;
  make_program(folder.file("weir-1"));
  std::filesystem::create_symlink("weir-1", folder.file("weir"));
  CHECK(started_as({folder.file("weir").c_str()}).path == folder.file("weir"));
}

TEST_CASE("a bare name is looked up as a shell does: the first that may be run") {
  const net::ScratchFolder folder;
  const std::string empty = folder.file("empty");
  const std::string locked = folder.file("locked");
  const std::string right = folder.file("right");
  const std::string later = folder.file("later");
  for (const std::string& each : {empty, locked, right, later}) {
    std::filesystem::create_directory(each);
  }
  make_program(locked + "/weir-test-program", 0644);
  make_program(right + "/weir-test-program");
  make_program(later + "/weir-test-program");
  const SearchPath path(empty + ":" + locked + ":" + right + ":" + later);
  CHECK(started_as({"weir-test-program"}).path == right + "/weir-test-program");
}

TEST_CASE("a bare name that is nowhere, and no name at all, still give a path") {
  const SearchPath path("/no/such/folder");
  const std::string here = std::filesystem::current_path().string();
  CHECK(started_as({"weir-test-program"}).path == here + "/weir-test-program");
  CHECK(started_as({}).path == here + "/weir");
}
