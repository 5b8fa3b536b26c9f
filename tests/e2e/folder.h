#pragma once

#include <string>

namespace weir::e2e {

// A new folder for one test's unix sockets and logs, removed with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // `unix:PATH`, as an address in a configuration file and as a Backend's host.
  std::string unix_socket(const std::string& name) const { return "unix:" + file(name); }

 private:
  std::string path_;
};

}  // namespace weir::e2e
