#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weir/admin/api_server.h"
#include "weir/admin/control.h"
#include "weir/app/app_options.h"
#include "weir/app/binds.h"
#include "weir/net/loop.h"
#include "weir/net/timer.h"

namespace weir::app {

// The two ways in for operators: the admin socket, open from start to end, and `http.listen`, which
// a reload may move. Control thread.
class Doors {
 public:
  Doors(net::Loop& loop, admin::Control& control, std::size_t most_connections)
      : loop_(loop),
        control_(control),
        most_connections_(most_connections),
        close_(loop, [this] { before_.reset(); }),
        close_left_(loop, [this] { left_.clear(); }) {}

  // Answers why one cannot be opened. An admin socket that nobody asked for, at its default place,
  // is only warned of: weir serves all the same.
  // What is wanted of the `inherited` sockets is taken out of them.
  [[nodiscard]] std::optional<std::string> open(const AppOptions& options,
                                                std::vector<Rebinding::Inherited>& inherited,
                                                Listening listening);
  // Those that were opened to listen later do so now. One that cannot is an error in the log.
  void listen();
  // Opens what is to follow the present `http.listen`, or nothing if that stays. Until adopt()
  // nothing has changed.
  [[nodiscard]] std::optional<std::string> prepare(const AppOptions& options);
  void adopt();

  // For another process that takes over: further descriptors of the sockets that are open.
  std::vector<net::ListenSocket> share() const;
  // The other way round: the admin socket's file is ours from here on, and has our access.
  void take_paths(const AppOptions& options);
  // It has adopted what is at these addresses; the rest is closed as ever. Who has asked there
  // already is still answered.
  void leave(const std::set<std::string>& addresses);

  // Connections that the admin socket admits, of a process that may have so many descriptors: few
  // enough to leave them to sessions, enough that hundreds who connect and say nothing keep nobody
  // out. `http.listen` admits a quarter of them.
  static std::size_t most_connections(std::size_t descriptor_limit);
  // What the doors of these options may use.
  static std::size_t descriptors(const AppOptions& options, std::size_t most_connections);

 private:
  using Server = std::unique_ptr<admin::ApiServer>;

  std::optional<std::string> open_admin_socket(const AppOptions& options,
                                               std::vector<Rebinding::Inherited>& inherited);
  bool open_one(admin::ApiServer& server, const core::Endpoint& endpoint,
                const net::FileAccess& access, std::string& error) const;
  std::optional<std::string> open_http(const core::Endpoint& endpoint, Server& server,
                                       std::vector<Rebinding::Inherited>& inherited);
  std::optional<std::string> prepare(const AppOptions& options,
                                     std::vector<Rebinding::Inherited>& inherited);

  net::Loop& loop_;
  admin::Control& control_;
  const std::size_t most_connections_;
  // Of those before and after a reload together. The admin socket has its own, so that whoever can
  // only read keeps no operator from an answer.
  const std::shared_ptr<admin::Unsent> http_unsent_ = std::make_shared<admin::Unsent>();
  Listening listening_ = Listening::at_once;
  Server admin_;
  Server http_;
  std::optional<core::Endpoint> http_endpoint_;
  struct Next {
    std::optional<core::Endpoint> endpoint;
    Server server;
  };
  std::optional<Next> next_;
  Server before_;  // it may be answering the very call that moves it, and goes in a later turn
  net::Timer close_;
  std::vector<Server> left_;
  net::Timer close_left_;
};

}  // namespace weir::app
