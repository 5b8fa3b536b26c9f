#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weir/upstream/dial.h"
#include "weir/upstream/dial_counters.h"
#include "weir/upstream/pending_verdict.h"
#include "weir/upstream/selector.h"

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

// What clients' dials need of their worker; outlives every one.
struct DialContext : Dial::Context {
  Selector& selector;
  std::size_t worker;
};

// One dial for a client: the backend's place and the permit that it was chosen with, the dial, then
// the verdict for the circuit. The destructor cancels: what is under way is closed by an immediate
// reset, and the permit ends neutral. One thread.
class ClientDial final : private Dial::Owner {
 public:
  class Owner {
   public:
    // One of them, once, as the dial's last act; its place and permit are given back or handed over
    // by then. The owner may destroy the dial from there.
    virtual void on_dial_connected(Connection connection) = 0;
    virtual void on_dial_ended(core::DialResult result) = 0;
    // The client's own deadline has come, and the dial goes on without it (see go_alone): it needs
    // a new owner at once, or goes. Of a dial that is alone never.
    virtual void on_out_of_time() {}

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
  ClientDial(const DialContext& context, Pool& pool, Selection selection, const Terms& terms,
             net::Timer& timer, std::vector<Attempt>& attempts, Owner& owner);
  ~ClientDial();

  // May call the owner before it returns.
  void start() { dial_.start(); }
  void on_timer() { dial_.on_timer(); }

  const Backend& backend() const { return *selection_.lease; }
  // The address being dialled, as the access log would have it now.
  Attempt attempt(core::DialOutcome outcome) const;

  // The client has left. Whether the dial may go on without it, for its verdict alone: an ordinary
  // one of a closed circuit, and the only one of its backend. If so it needs a new owner at once,
  // and has the whole of `connect`.
  [[nodiscard]] bool go_alone();
  void hand_over(net::Timer& timer, Owner& owner);

 private:
  void on_address_tried(core::DialOutcome outcome) override;
  void on_dialled(core::DialResult result, net::Socket socket) override;
  bool takes_on() override;

  void connected(net::Socket socket);
  void failed(core::DialResult result);

  const DialContext& context_;
  Pool& pool_;
  Selection selection_;
  Terms terms_;
  const DialCounters counters_;
  const core::TimePoint started_;
  std::vector<Attempt>* attempts_;  // null once it is alone
  Owner* owner_;
  GaugeGuard dialing_;
  Dial dial_;
};

}  // namespace weir::upstream
