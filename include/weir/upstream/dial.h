#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "weir/core/backoff.h"
#include "weir/core/dial_outcome.h"
#include "weir/core/random.h"
#include "weir/core/time.h"
#include "weir/net/connect.h"
#include "weir/net/resolver.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"

namespace weir::net {
class Loop;
class Timer;
}  // namespace weir::net

namespace weir::upstream {

class Backend;

// One try to reach one backend, over all its addresses: it is reached when one of them accepts. For
// whom the connection itself is of no use; a client's dials are Connector's. The connection ends
// with this, and so does a try under way: by a reset that comes before the handshake is whole, so
// that the server's program never hears of it. MariaDB and MySQL hold it against a host when it
// leaves without a word, in good order always, by a reset when they have read its address by then.
// One thread.
class Dial final : public net::SocketWatcher {
 public:
  class Owner {
   public:
    // Called once, as the dial's last act; the owner may destroy it from there.
    virtual void on_dialled(core::DialResult result) = 0;

   protected:
    ~Owner() = default;
  };

  // What a dial needs of its thread; outlives it.
  struct Context {
    net::Loop& loop;
    net::Resolver& resolver;
    core::Rng& rng;
  };

  // `source` is the local address, none = the kernel's choice. `timer` is the owner's: the dial
  // arms it, and the owner calls on_timer() when it fires.
  Dial(const Context& context, const Backend& backend, const net::SocketAddress& source,
       core::TimePoint deadline, net::Timer& timer, Owner& owner);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  // May call the owner before it returns.
  void start();
  void on_timer();

 private:
  enum class Phase : std::uint8_t { idle, resolving, connecting, queue_full };

  void on_ready() override;

  void resolved(const net::Addresses& addresses);
  void dial_address();
  void connect_once();
  void handle(const net::ConnectState& state);
  void address_failed(core::DialResult result);
  void end(core::DialResult result);
  void wait_until(core::TimePoint at, Phase phase);
  std::size_t addresses() const { return addresses_ ? addresses_->size() : 1; }

  const Context context_;
  const Backend& backend_;
  const net::SocketAddress& source_;
  const core::TimePoint deadline_;
  net::Timer& timer_;
  Owner& owner_;

  Phase phase_ = Phase::idle;
  std::unique_ptr<net::Resolver::Lookup> lookup_;
  net::Addresses addresses_;   // of a backend given by name
  std::size_t address_ = 0;    // the one being tried
  net::SocketAddress target_;  // the same, with its port
  core::TimePoint address_deadline_{};
  core::Backoff queue_full_pause_;
  core::DialResult told_;  // what the addresses tried so far say of the backend
  net::Socket socket_;
};

}  // namespace weir::upstream
