#include "weir/app/program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace weir::app {
namespace {

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

// Not /proc/self/exe: that is the file which an upgrade has replaced.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return absolute(name);
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return absolute(candidate);
  }
  return absolute(name);
}

}  // namespace

Program this_program(int argc, const char* const* argv) {
  Program program;
  for (int i = 0; i < argc; ++i) program.arguments.emplace_back(argv[i]);
  program.path = find_program(program.arguments.empty() ? "weir" : program.arguments[0]);
  return program;
}

}  // namespace weir::app
