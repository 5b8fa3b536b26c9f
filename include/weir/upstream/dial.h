#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weir/core/backoff.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/connect.h"
#include "weir/net/resolver.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"
#include "weir/upstream/pending_verdict.h"
#include "weir/upstream/selector.h"

namespace weir::net {
class Loop;
class Timer;
}  // namespace weir::net

namespace weir::upstream {

class Pool;

// One address that was dialled, for the access log.
struct Attempt {
  const Backend* backend = nullptr;
  std::unique_ptr<std::string> resolved;  // the numeric address of a backend given by name
  core::DialOutcome outcome = core::DialOutcome::cancelled;
  core::Duration took{0};

  const std::string& address() const { return resolved ? *resolved : backend->address_text(); }
};

// A connection to a backend that succeeded, and the backend's place it occupies.
struct Connection {
  net::Socket socket;  // watched; give it a watcher of its own before the next turn
  BackendLease lease;
  PendingVerdict verdict;  // empty unless the backend's first byte decides
};

// What a dial needs of its worker; outlives every dial.
struct DialContext {
  net::Loop& loop;
  net::Resolver& resolver;
  Selector& selector;
  core::Rng& rng;
  std::size_t worker;
};

// One dial of one backend: its addresses in turn within one deadline, until one has connected or
// none is left; then the verdict for the circuit. The destructor cancels: what is under way is
// closed by an immediate reset, and the permit ends neutral. One thread.
class Dial final : public net::SocketWatcher {
 public:
  class Owner {
   public:
    // One of them, once, as the dial's last act; its place and permit are given back by then. The
    // owner may destroy the dial from there.
    virtual void on_dial_connected(Connection connection) = 0;
    virtual void on_dial_ended(core::DialResult result) = 0;

   protected:
    ~Owner() = default;
  };

  struct Terms {
    core::TimePoint deadline;
    bool hurried = false;       // the deadline is the client's: the backend had less than `connect`
    bool data_follows = false;  // the client has sent something, which the backend gets at once
    bool retry = false;         // not the first dial for its client
  };

  // `timer` is the owner's; the dial arms it, and the owner calls on_timer() when it fires. Each
  // address that was tried is added to `attempts`.
  Dial(const DialContext& context, Pool& pool, Selection selection, const Terms& terms,
       net::Timer& timer, std::vector<Attempt>& attempts, Owner& owner);
  ~Dial();

  // May call the owner before it returns.
  void start();
  void on_timer();

  // The address being dialled, as the access log would have it now.
  Attempt attempt(core::DialOutcome outcome) const;

  // The client has left. Whether the dial may go on without it, for its verdict alone: an ordinary
  // one of a closed circuit, and the only one of its backend. It then has the whole of `connect`
  // and needs a new owner at once.
  [[nodiscard]] bool go_alone();
  void hand_over(net::Timer& timer, Owner& owner);

 private:
  enum class Phase : std::uint8_t { idle, resolving, connecting, queue_full };

  void on_ready() override;

  void resolved(const net::Addresses& addresses);
  void dial_address();
  void connect_once();
  void handle(const net::ConnectState& state);
  void connected();
  void address_failed(core::DialResult result);
  void failed(core::DialResult result);
  void wait_until(core::TimePoint at, Phase phase);
  void record(core::DialOutcome outcome);
  const net::SocketAddress& target() const;
  std::size_t addresses() const { return addresses_ ? addresses_->size() : 1; }

  const DialContext& context_;
  Pool& pool_;
  Selection selection_;
  Terms terms_;
  DialCounters counters_;
  const core::TimePoint started_;
  net::Timer* timer_;
  std::vector<Attempt>* attempts_;  // null once it is alone
  Owner* owner_;
  GaugeGuard dialing_;

  Phase phase_ = Phase::idle;
  core::TimePoint wake_at_{};  // what the timer is armed for
  std::unique_ptr<net::Resolver::Lookup> lookup_;
  net::Addresses addresses_;  // of a backend given by name
  std::size_t address_ = 0;   // the one being tried
  net::SocketAddress with_port_;
  core::DialResult told_;  // what the addresses tried so far say of the backend
  core::Backoff queue_full_pause_{core::Duration::zero(), core::Duration::zero()};
  core::TimePoint address_started_;
  core::TimePoint address_deadline_{};
  net::Socket socket_;
};

}  // namespace weir::upstream
