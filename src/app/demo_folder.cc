#include "app/demo_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "weir/app/app_options.h"

namespace weir::app {
namespace {

constexpr std::size_t kLongestPath = 107;  // of a unix socket

std::vector<std::string> candidates() {
  const std::string usual = AppOptions().admin_socket;
  std::vector<std::string> folders{usual.substr(0, usual.find_last_of('/'))};
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/')
    folders.push_back(std::string(runtime) + "/weir-demo");
  folders.push_back(fmt::format("/tmp/weir-demo-{}", ::getuid()));
  return folders;
}

// Ours alone: in a folder like /tmp anybody may have made one of that name.
bool is_ours(const std::string& folder) {
  struct stat found {};
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == ::geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

DemoFolder::DemoFolder() {
  for (const std::string& folder : candidates()) {
    constexpr mode_t kForAllToEnter = 0755;  // the socket has a mode of its own
    const bool made = ::mkdir(folder.c_str(), kForAllToEnter) == 0;
    if (settle(folder, made)) return;
  }
  std::string another = fmt::format("/tmp/weir-demo-{}-XXXXXX", ::getuid());
  if (::mkdtemp(another.data()) != nullptr) settle(another, true);
}

bool DemoFolder::settle(const std::string& folder, bool made) {
  core::Endpoint endpoint;
  endpoint.kind = core::Endpoint::Kind::unix_path;
  endpoint.host = folder + "/admin.sock";
  net::ListenOptions options;
  options.access = net::FileAccess();
  std::string error;
  if (endpoint.host.size() <= kLongestPath && is_ours(folder)) {
    socket_ = net::ListenSocket::open(endpoint, options, error);
  }
  if (!socket_) {
    if (made) ::rmdir(folder.c_str());
    return false;
  }
  if (made) made_ = folder;
  socket_path_ = endpoint.host;
  access_log_ = folder + "/demo-access.log";
  ::unlink(access_log_.c_str());  // of an earlier demo: this one's begins empty
  return true;
}

DemoFolder::~DemoFolder() {
  socket_.close();
  if (!access_log_.empty()) ::unlink(access_log_.c_str());
  if (!made_.empty()) ::rmdir(made_.c_str());
}

}  // namespace weir::app
