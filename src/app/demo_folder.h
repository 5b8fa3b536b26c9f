#pragma once

#include <string>

#include "weir/net/listen_socket.h"

namespace weir::app {

// The folder with the demo's admin socket and access log: the usual one where this user may have
// it, else one in $XDG_RUNTIME_DIR or /tmp, and one more for each demo beside the first. Nobody
// else can write there. What the demo made is removed with this.
class DemoFolder {
 public:
  DemoFolder();
  ~DemoFolder();
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

  // Empty paths: there is no place for any, and the demo does without.
  const std::string& socket_path() const { return socket_path_; }
  const std::string& access_log() const { return access_log_; }
  net::ListenSocket take_socket() { return std::move(socket_); }

 private:
  bool settle(const std::string& folder, bool made);

  std::string made_;  // the folder, when it was not there before
  std::string socket_path_;
  std::string access_log_;
  net::ListenSocket socket_;
};

}  // namespace weir::app
