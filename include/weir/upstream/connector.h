#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "weir/core/dial_plan.h"
#include "weir/net/connect.h"
#include "weir/net/resolver.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"
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
};

// What a dial needs of its worker; outlives every Connector.
struct DialContext {
  net::Loop& loop;
  net::Resolver& resolver;
  Selector& selector;
  core::Rng& rng;
  std::size_t worker;
};

// One client's way to a backend: choose, dial, give a verdict, choose again after a failure, until
// connected or given up (core::DialPlan decides which). The destructor cancels: a dial under way is
// closed by an immediate reset, its permit ends neutral. One thread.
class Connector final : public net::SocketWatcher {
 public:
  class Owner {
   public:
    // Each is called once at most, as the connector's last act in that turn; the owner may destroy
    // it from there.
    virtual void on_connected(Connection connection) = 0;
    virtual void on_dial_failed(core::CloseReason reason) = 0;

   protected:
    ~Owner() = default;
  };

  // `timer` is the owner's; the connector arms it, and the owner calls on_timer() when it fires.
  // `data_follows`: the client has sent something already, which the backend will get at once.
  Connector(const DialContext& context, Pool& pool, std::uint64_t source_hash, bool data_follows,
            net::Timer& timer, Owner& owner);
  ~Connector();

  // May call the owner before it returns.
  void start();
  bool data_follows() const { return data_follows_; }
  void on_timer();

  // What was dialled so far, in order. A dial that is cancelled by the destructor is missing here:
  // take_attempts() adds it as `cancelled`.
  std::vector<Attempt> take_attempts();

 private:
  enum class Phase : std::uint8_t { idle, waiting, resolving, connecting, queue_full };

  void on_ready() override;

  void choose();
  bool budget_allows(core::TimePoint now);
  void none_left();
  void begin_dial(Selection selection);
  void resolved(const net::Addresses& addresses);
  void dial_address();
  void connect_once();
  void handle(const net::ConnectState& state);
  void address_failed(core::DialResult result);
  void dial_failed(core::DialResult result);
  void follow(const core::DialStep& step);
  void wait_until(core::TimePoint at, Phase phase);
  void record(core::DialOutcome outcome);
  void count(core::DialOutcome outcome);
  const net::SocketAddress& target() const;
  std::size_t addresses() const { return addresses_ ? addresses_->size() : 1; }

  const DialContext context_;
  Pool& pool_;
  const std::uint64_t source_hash_;
  const bool data_follows_;
  net::Timer& timer_;
  Owner& owner_;
  core::DialPlan plan_;
  Phase phase_ = Phase::idle;
  std::vector<Attempt> attempts_;
  int dials_this_turn_ = 0;

  // The dial under way.
  Selection selection_;
  GaugeGuard dialing_;
  core::TimePoint dial_deadline_{};
  bool cut_short_ = false;  // by the overall deadline
  std::unique_ptr<net::Resolver::Lookup> lookup_;
  net::Addresses addresses_;  // of a backend given by name
  std::size_t address_ = 0;   // the one being tried
  net::SocketAddress with_port_;
  core::DialResult told_;  // what the addresses tried so far say of the backend
  core::Backoff queue_full_pause_{core::Duration::zero(), core::Duration::zero()};
  core::TimePoint address_started_{};
  core::TimePoint address_deadline_{};
  net::Socket socket_;
};

}  // namespace weir::upstream
