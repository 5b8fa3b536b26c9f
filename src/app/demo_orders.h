#pragma once

#include <list>
#include <string>
#include <string_view>

#include "app/demo_backend.h"

namespace weir::app {

// Where the demo's backends are broken and mended: each line is `BACKEND WORD`, `a refuse`, and is
// answered with one. `echo` and bash's /dev/tcp are all that it takes. Loop thread only.
class DemoOrders final : net::Acceptor::Owner {
 public:
  // The backends outlive it.
  DemoOrders(net::Loop& loop, std::list<DemoBackend>& backends, net::ListenSocket socket);
  ~DemoOrders();

 private:
  class Desk;

  bool may_accept() override { return true; }
  void on_accepted(net::Descriptor socket, const net::SocketAddress& peer) override;
  void on_accept_error(net::AcceptError) override {}
  void on_batch_over() override {}
  void on_drained() override {}

  std::string carry_out(std::string_view line);

  net::Loop& loop_;
  std::list<DemoBackend>& backends_;
  std::list<Desk> desks_;
  net::Acceptor acceptor_;
};

}  // namespace weir::app
