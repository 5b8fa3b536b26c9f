#pragma once

#include <string>
#include <vector>

namespace weir::e2e {

// A configuration file with several listeners and pools, for scripts in which one follows another:
// change a field and take the text again. `keys` are further members in flow style, as
// `weight: 2, priority: 1`.
struct BackendText {
  std::string name;
  std::string address;
  std::string keys = {};
};

struct PoolText {
  std::string name = "servers";
  std::vector<BackendText> backends = {};
  std::string resilience = {};
  std::string keys = {};
};

struct ListenerText {
  std::string name = "front";
  std::vector<std::string> bind = {"127.0.0.1:1"};
  std::string pool = "servers";
  std::string keys = {};
};

struct ConfigText {
  int workers = 1;
  std::vector<ListenerText> listeners = {{}};
  std::vector<PoolText> pools = {};
  std::string process = {};  // further lines of the file

  PoolText& pool(const std::string& name = "servers");
  ListenerText& listener(const std::string& name = "front");
  std::string yaml() const;
};

// Backends b1, b2, ...
std::vector<BackendText> backends_at(const std::vector<std::string>& addresses);

}  // namespace weir::e2e
