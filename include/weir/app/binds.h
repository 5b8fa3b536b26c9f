#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weir/core/endpoint.h"
#include "weir/net/listen_socket.h"
#include "weir/net/socket_address.h"
#include "weir/proxy/listener.h"
#include "weir/proxy/listener_options.h"

namespace weir::app {

// One address that a listener has, on all workers.
struct Bind {
  proxy::AddressId id = 0;
  core::Endpoint written;      // as the configuration has it
  bool ipv6_only = false;      // `[::]` beside a `0.0.0.0`: settled when it was bound
  net::SocketAddress address;  // where it really is
};

struct BoundListener {
  std::string name;
  std::vector<Bind> binds;
};

// Why an address cannot be had.
struct BindFailure {
  std::size_t listener = 0;  // place in the configuration
  std::size_t bind = 0;      // place in the listener's list
  std::string message;       // `listener orders: 0.0.0.0:5432: cannot bind: Address in use`
};

// When new sockets begin to listen. In an upgrade later: the process before may go on after all,
// and whoever waited in the queue of a socket of ours would be reset when we go.
enum class Listening : std::uint8_t { at_once, later };

// From the addresses that are bound to those that a configuration needs: which stay, which go to
// another listener, and which are new, opened for each worker and not given to any. Destroyed
// unused it closes what it opened, and nothing has happened.
class Rebinding {
 public:
  // From another process, which listens there as well or did.
  struct Inherited {
    std::size_t number = 0;  // as it was given
    net::ListenSocket socket;
  };

  // `closing`: those that were given up before and are not closed yet. Their ports may be joined.
  explicit Rebinding(std::vector<Bind> closing = {}, Listening listening = Listening::at_once)
      : closing_(std::move(closing)), listening_(listening) {}

  struct Listener {
    std::vector<Bind> binds;                   // as they will be
    std::vector<proxy::AddressId> taken_over;  // of them, from another listener
    std::vector<proxy::AddressId> closed;      // had before, and wanted by nobody
    struct Opened {
      proxy::AddressId id;
      std::string text;  // with the port that the kernel chose where it was 0
      std::vector<std::vector<net::ListenSocket>> sockets;  // by worker
    };
    std::vector<Opened> opened;
  };

  // Answers the first failure, or nothing when all is open. `last_id` counts on. What is wanted of
  // the `inherited` is taken out of them: all sockets of an address, however many workers there
  // are.
  std::optional<BindFailure> open(const std::vector<BoundListener>& now,
                                  const std::vector<proxy::ListenerOptions>& next,
                                  std::size_t workers, proxy::AddressId& last_id,
                                  std::vector<Inherited>& inherited);

  std::vector<Listener>& listeners() { return listeners_; }  // in the order of the configuration
  std::vector<Bind> closed() const;                          // bound before, and wanted by nobody

 private:
  struct Held {
    Bind bind;
    std::string listener;
    bool used = false;
  };

  Held* find(const core::Endpoint& endpoint, bool ipv6_only, const std::string* listener);
  bool overlaps_ours(const core::Endpoint& wanted) const;
  bool joins_ours(const core::Endpoint& endpoint) const;
  bool open_new(const proxy::ListenerOptions& listener, std::size_t place, std::size_t workers,
                std::vector<Inherited>& inherited, Listener& to, std::string& error) const;

  const std::vector<Bind> closing_;
  const Listening listening_;
  std::vector<Held> held_;
  std::vector<Listener> listeners_;
};

}  // namespace weir::app
