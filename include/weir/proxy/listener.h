#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "weir/net/descriptor_budget.h"
#include "weir/net/listen_socket.h"
#include "weir/proxy/context.h"
#include "weir/proxy/listener_state.h"
#include "weir/upstream/pool.h"

namespace weir::proxy {

// Names one address of one listener on all workers. On one of them it may be several sockets, after
// an upgrade to fewer workers.
using AddressId = std::uint64_t;

// One listener on one worker: accepts on each of its addresses and makes a session of each client.
// Loop thread only.
class Listener {
 public:
  Listener(const Context& context, std::shared_ptr<ListenerState> state,
           std::shared_ptr<upstream::Pool> pool, core::AccessList access = {});
  ~Listener();

  const ListenerState& state() const { return *state_; }
  // Told of each address that it has closed, after whoever waited there.
  void on_address_closed(std::function<void(AddressId)> told) { address_closed_ = std::move(told); }
  // Where clients accepted from now on go, and which of them may.
  void retune(std::shared_ptr<upstream::Pool> pool, core::AccessList access) {
    pool_ = std::move(pool);
    access_ = std::move(access);
  }

  void listen(AddressId id, net::ListenSocket socket);
  // Hands an address over with whoever waits there, all its sockets; none if it is not one of this
  // listener's.
  std::vector<net::ListenSocket> release(AddressId id);
  // Further descriptors of all its sockets.
  std::vector<std::pair<AddressId, net::ListenSocket>> share() const;
  // Accepts nobody until go_on().
  void hold();
  void go_on();
  // Leaves those of its addresses to another process that has them too: who waits there waits on.
  void leave(const std::set<AddressId>& ids);
  void take_paths();
  // Ends listening there. What already waits in the accept queue is served.
  void stop(AddressId id);
  // Ends listening everywhere, likewise; then calls `gone`, perhaps at once, as its last act.
  void retire(std::function<void()> gone);
  bool gone() const { return addresses_.empty(); }

  // Stops listening, and refuses what already waits in an accept queue, in good order and never by
  // a reset, as `shutdown`. Calls `drained`, perhaps at once, as its last act.
  void drain(std::function<void()> drained);

 private:
  class Address;

  bool may_accept();
  bool admits(const net::SocketAddress& peer) const;
  void accepted(net::Descriptor socket, const net::SocketAddress& peer);
  void failed(net::AcceptError error);
  void report(net::AcceptError error, const char* what);
  void closed(Address& address);
  void report_if_gone();

  const Context& context_;
  const std::shared_ptr<ListenerState> state_;
  std::shared_ptr<upstream::Pool> pool_;
  core::AccessList access_;
  net::DescriptorShare next_;  // taken before the accept that will need it
  bool refusing_ = false;
  std::function<void(AddressId)> address_closed_;
  std::function<void()> on_gone_;  // set once listening ends everywhere
  std::list<std::unique_ptr<Address>> addresses_;
  std::list<std::unique_ptr<Address>> closed_;  // they may still be on the stack
};

}  // namespace weir::proxy
