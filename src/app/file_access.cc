#include "app/file_access.h"

#include <grp.h>
#include <pwd.h>

namespace weir::app {

// Control thread, before others look users up: the plain functions will do.
bool look_up_access(const AppOptions& options, net::FileAccess& access, std::string& error) {
  access.mode = options.admin_mode;
  const std::size_t colon = options.admin_owner.find(':');
  const std::string user = options.admin_owner.substr(0, colon);
  const std::string group =
      colon == std::string::npos ? std::string() : options.admin_owner.substr(colon + 1);
  if (!user.empty()) {
    const passwd* const found = ::getpwnam(user.c_str());
    if (found == nullptr) {
      error = "admin.owner: there is no user " + user;
      return false;
    }
    access.owner = found->pw_uid;
    if (group.empty()) access.group = found->pw_gid;
  }
  if (!group.empty()) {
    const ::group* const found = ::getgrnam(group.c_str());
    if (found == nullptr) {
      error = "admin.owner: there is no group " + group;
      return false;
    }
    access.group = found->gr_gid;
  }
  return true;
}

}  // namespace weir::app
