#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weir/config/configuration.h"

namespace weir::app {

// The backends of `weir --demo`, in this process on a thread of their own: each greets a client
// with its name and then answers every line with the same line, so that a newcomer sees which one
// was chosen and needs nothing else installed.
class DemoBackends {
 public:
  explicit DemoBackends(const std::vector<std::string>& names);
  ~DemoBackends();

  // `name` and `127.0.0.1:PORT` of each.
  const std::vector<std::pair<std::string, std::string>>& backends() const { return backends_; }

 private:
  class Server;
  std::vector<std::pair<std::string, std::string>> backends_;
  std::unique_ptr<Server> server_;
};

// The embedded configuration over those backends.
config::Configuration demo_configuration(const DemoBackends& backends);

// What to type next.
std::string demo_greeting();

}  // namespace weir::app
