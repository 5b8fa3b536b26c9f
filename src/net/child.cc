#include "weir/net/child.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace weir::net {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::pair<std::string, std::string>& variable) {
  std::vector<std::string> result;
  const std::string prefix = variable.first + "=";
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string_view(*each).substr(0, prefix.size()) != prefix) result.emplace_back(*each);
  }
  result.push_back(prefix + variable.second);
  return result;
}

std::string told(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::optional<Child> Child::start(const std::string& program,
                                  const std::vector<std::string>& arguments, int inherited,
                                  const std::pair<std::string, std::string>& variable,
                                  std::string& error) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, inherited, kInherited);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> given = arguments;
  std::vector<std::string> environment = environment_with(variable);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program.c_str(), &files, &attributes,
                                   pointers(given).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (failed == 0) return Child(pid);
  error = std::strerror(failed);
  return std::nullopt;
}

std::optional<std::string> Child::ended() {
  int status = 0;
  if (!how_ && ::waitpid(pid_, &status, WNOHANG) == pid_) how_ = told(status);
  return how_;
}

void Child::kill() {
  if (how_) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  how_ = told(status);
}

}  // namespace weir::net
