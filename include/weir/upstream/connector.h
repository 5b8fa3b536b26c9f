#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weir/core/dial_plan.h"
#include "weir/upstream/client_dial.h"

namespace weir::upstream {

// One client's way to a backend: choose, dial, choose again after a failure, until connected or
// given up (core::DialPlan decides which). The destructor cancels a dial under way. One thread.
class Connector final : private ClientDial::Owner {
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

  // Those that have ended, in order.
  const std::vector<Attempt>& attempts() const { return attempts_; }
  // The one being dialled; null between two dials.
  const Backend* backend() const { return dial_ ? &dial_->backend() : nullptr; }
  // What was dialled so far, in order. A dial that is cancelled by the destructor is missing here:
  // take_attempts() adds it as `cancelled`.
  std::vector<Attempt> take_attempts();

  // The client has left, or its time is over: the dial under way, if it is one that goes on without
  // it (ClientDial::go_alone). Then nothing is left here to be cancelled. Null otherwise.
  std::unique_ptr<ClientDial> take_lone_dial();

 private:
  void on_dial_connected(Connection connection) override;
  void on_dial_ended(core::DialResult result) override;
  void on_out_of_time() override;

  void choose();
  bool budget_allows(core::TimePoint now);
  void none_left();
  void dial(Selection selection);
  void follow(const core::DialStep& step);

  const DialContext& context_;
  Pool& pool_;
  const std::uint64_t source_hash_;
  const bool data_follows_;
  net::Timer& timer_;
  Owner& owner_;
  core::DialPlan plan_;
  std::vector<Attempt> attempts_;
  std::unique_ptr<ClientDial> dial_;  // the one under way; null while waiting for the next
  std::unique_ptr<ClientDial> lone_;  // the one that goes on, until it is taken
  int dials_this_turn_ = 0;
};

}  // namespace weir::upstream
