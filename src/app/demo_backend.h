#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "weir/net/acceptor.h"
#include "weir/net/descriptor.h"
#include "weir/net/listen_socket.h"
#include "weir/net/loop.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"
#include "weir/net/timer.h"

namespace weir::app {

// How a backend of the demo behaves, in the words of the orders that it takes.
enum class Mood : std::uint8_t {
  fine,    // answers at once
  slow,    // answers after half a second
  hang,    // accepts everybody and answers nobody
  refuse,  // does not listen; whoever is connected already stays so
};

std::string_view name(Mood mood);
std::optional<Mood> mood_named(std::string_view word);

// One backend of the demo: greets a client with its name and then answers with what it hears. The
// people at the other end type by hand: what does not fit the socket is dropped. Loop thread only.
class DemoBackend final : net::Acceptor::Owner {
 public:
  DemoBackend(net::Loop& loop, std::string name, net::ListenSocket socket);
  ~DemoBackend();

  const std::string& name() const { return name_; }
  // Answers why it cannot, or nothing.
  std::string set(Mood mood);

 private:
  class Client;

  void listen(net::ListenSocket socket);

  bool may_accept() override { return true; }
  void on_accepted(net::Descriptor socket, const net::SocketAddress& peer) override;
  void on_accept_error(net::AcceptError) override {}
  void on_batch_over() override {}
  void on_drained() override {}

  net::Loop& loop_;
  const std::string name_;
  const core::Endpoint endpoint_;
  Mood mood_ = Mood::fine;
  std::list<Client> clients_;
  std::optional<net::Acceptor> acceptor_;  // none while it refuses
  net::Descriptor refusing_;               // keeps the port meanwhile
};

}  // namespace weir::app
