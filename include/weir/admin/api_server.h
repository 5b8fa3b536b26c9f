#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "weir/admin/unsent.h"
#include "weir/core/endpoint.h"
#include "weir/net/listen_socket.h"
#include "weir/net/socket_address.h"

namespace weir::net {
class Loop;
}

namespace weir::admin {

class Control;
struct HttpRequest;
struct HttpResponse;
class HttpServer;
class Router;

// The admin API over HTTP on one socket, served on the control thread's loop. Loop and control
// outlive it; destroying it closes its connections at once and removes a unix socket's file. A call
// of the control never destroys it. Loop thread only.
class ApiServer {
 public:
  enum class Scope {
    full,       // everything, for the admin socket: whoever may connect may do anything
    read_only,  // for `http.listen`: no orders, no sessions, no configuration
  };

  // Each connection costs a descriptor; the server has two more, its socket and its epoll set.
  static constexpr std::size_t kMostConnections = 128;

  // Servers that follow each other share what they hold of answers that nobody reads.
  ApiServer(net::Loop& loop, Control& control, Scope scope,
            std::size_t most_connections = kMostConnections,
            std::shared_ptr<Unsent> unsent = std::make_shared<Unsent>());
  ~ApiServer();

  // Begins to serve at `endpoint`, once. On failure `error` says why, for an operator, and nothing
  // has begun. `access` is of a unix socket's file.
  [[nodiscard]] bool listen(const core::Endpoint& endpoint, const net::FileAccess& access,
                            std::string& error);

  // The same in two steps: until begin() nobody can connect.
  [[nodiscard]] bool bind(const core::Endpoint& endpoint, const net::FileAccess& access,
                          std::string& error);
  [[nodiscard]] bool begin(std::string& error);

  // The same on a socket that another process listened on, or does.
  void serve(net::ListenSocket socket);

  // For another process that takes over: a further descriptor of its socket; and that one accepts
  // from here on, and has the file. Those who are connected get one answer more, and orders none.
  net::ListenSocket share() const;
  void leave();
  // The other way round. False, and `error` says why, when it cannot have this access.
  [[nodiscard]] bool take_path(const net::FileAccess& access, std::string& error);

  // Where it listens, with the port that was chosen for port 0.
  net::SocketAddress address() const;

 private:
  HttpResponse answer(const HttpRequest& request);

  net::Loop& loop_;
  const Scope scope_;
  const std::size_t most_connections_;
  const std::shared_ptr<Unsent> unsent_;
  std::unique_ptr<Router> router_;
  net::ListenSocket bound_;  // until begin()
  std::unique_ptr<HttpServer> server_;
  bool left_ = false;
};

}  // namespace weir::admin
