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

// One try to reach one backend: its addresses in turn within one deadline, until one accepts or
// none is left. Knows nothing of circuits and counts: a client's dial is a ClientDial, a check's
// verdict is HealthChecker's. The destructor resets what is under way. One thread.
class Dial final : public net::SocketWatcher {
 public:
  class Owner {
   public:
    // One of the addresses came to this; the last one as well, before on_dialled().
    virtual void on_address_tried(core::DialOutcome) {}
    // The deadline has come and nothing has: whether the owner has taken the dial on, for nobody
    // and with another deadline (go_on_for_nobody). It may have destroyed it too.
    virtual bool takes_on() { return false; }
    // Called once, as the dial's last act; the owner may destroy it from there. After `connected`
    // the socket is the owner's, watched: it needs a watcher of its own before the next turn. Empty
    // for nobody, and after any other outcome.
    virtual void on_dialled(core::DialResult result, net::Socket socket) = 0;

   protected:
    ~Owner() = default;
  };

  // What a dial needs of its thread; outlives it.
  struct Context {
    net::Loop& loop;
    net::Resolver& resolver;
    core::Rng& rng;
  };

  struct Terms {
    core::TimePoint deadline;
    bool data_follows = false;  // something is sent as soon as it is connected
    // Only whether the backend accepts is of interest. The connection is then reset before its
    // handshake is whole, so that the server's program never hears of it: MariaDB and MySQL hold it
    // against a host when it leaves without a word, in good order always, by a reset when they have
    // read its address by then.
    bool for_nobody = false;
  };

  // `source` is the local address, none = the kernel's choice. `timer` is the owner's: the dial
  // arms it, and the owner calls on_timer() when it fires.
  Dial(const Context& context, const Backend& backend, const net::SocketAddress& source,
       const Terms& terms, net::Timer& timer, Owner& owner);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  // May call the owner before it returns.
  void start();
  void on_timer();

  // From here on it is for nobody, and on another timer. A later deadline is the last address's.
  void go_on_for_nobody(net::Timer& timer, core::TimePoint deadline);

  // The address being tried: since when, and which it is of a backend given by name (else null).
  core::TimePoint address_started() const { return address_started_; }
  const net::SocketAddress* resolved() const { return addresses_ ? &target_ : nullptr; }

 private:
  enum class Phase : std::uint8_t { idle, resolving, connecting, queue_full };

  void on_ready() override;

  void on_resolved(const net::Addresses& addresses);
  void not_resolved();
  void out_of_time();
  void dial_address();
  void connect_once();
  void handle(const net::ConnectState& state);
  void connected();
  void address_failed(core::DialResult result);
  void end(core::DialResult result);
  void wait_until(core::TimePoint at, Phase phase);
  std::size_t addresses() const { return addresses_ ? addresses_->size() : 1; }

  const Context& context_;
  const Backend& backend_;
  const net::SocketAddress& source_;
  Terms terms_;
  net::Timer* timer_;
  Owner& owner_;

  Phase phase_ = Phase::idle;
  core::TimePoint wake_at_{};  // what the timer is armed for
  std::unique_ptr<net::Resolver::Lookup> lookup_;
  net::Addresses addresses_;   // of a backend given by name
  std::size_t address_ = 0;    // the one being tried
  net::SocketAddress target_;  // the same, with its port
  core::TimePoint address_started_;
  core::TimePoint address_deadline_{};
  core::Backoff queue_full_pause_;
  core::DialResult told_;  // what the addresses tried so far say of the backend
  net::Socket socket_;
};

}  // namespace weir::upstream
