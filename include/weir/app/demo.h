#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weir/config/configuration.h"
#include "weir/net/listen_socket.h"

namespace weir::app {

// `weir --demo`: an embedded configuration, and on a thread of their own the backends that it
// names, the port that takes orders to them, and a little traffic. A newcomer needs nothing else
// installed, and can break a backend and see what weir does about it. Where an address is taken,
// by another demo for instance, another one is used, and the greeting says which.
class Demo {
 public:
  enum class Traffic : std::uint8_t { none, some };

  // Throws std::runtime_error when there are no sockets to be had.
  Demo(const std::vector<std::string>& names, Traffic traffic);
  ~Demo();

  // `name` and `127.0.0.1:PORT` of each backend, and where orders go.
  const std::vector<std::pair<std::string, std::string>>& backends() const { return backends_; }
  const std::string& orders() const { return orders_; }

  const config::Configuration& configuration() const { return configuration_; }
  // Those that the configuration binds, open already: nobody else can have taken what was free.
  // Once.
  std::vector<net::ListenSocket> take_sockets();

  // What is where, and what to type next.
  std::string greeting() const;

 private:
  class Server;
  struct Front;

  void configure(Traffic traffic);

  std::unique_ptr<Front> front_;
  std::vector<std::pair<std::string, std::string>> backends_;
  std::string orders_;
  config::Configuration configuration_;
  std::unique_ptr<Server> server_;
};

}  // namespace weir::app
