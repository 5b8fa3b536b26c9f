#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "weir/net/acceptor.h"
#include "weir/net/descriptor_budget.h"
#include "weir/proxy/context.h"
#include "weir/proxy/listener_state.h"

namespace weir::proxy {

// One listener on one worker: accepts on each of its addresses and makes a session of each client.
// Loop thread only.
class Listener final : public net::Acceptor::Owner {
 public:
  Listener(const Context& context, ListenerState& state, std::vector<net::ListenSocket> sockets);

  // Stops listening. What already waits in an accept queue is accepted and refused in good order
  // as `shutdown`, never reset. Calls `drained`, perhaps at once, as its last act.
  void drain(std::function<void()> drained);

 private:
  bool may_accept() override;
  void on_accepted(net::Descriptor socket, const net::SocketAddress& peer) override;
  void on_accept_error(net::AcceptError error) override;
  void on_batch_over() override;
  void on_drained() override;
  void report(net::AcceptError error, const char* what);

  const Context& context_;
  ListenerState& state_;
  net::DescriptorShare next_;  // taken before the accept that will need it
  bool draining_ = false;
  std::function<void()> drained_;
  std::size_t undrained_ = 0;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
};

}  // namespace weir::proxy
