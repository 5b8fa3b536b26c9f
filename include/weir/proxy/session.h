#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "weir/core/admission.h"
#include "weir/core/close_reason.h"
#include "weir/net/run_queue.h"
#include "weir/net/socket.h"
#include "weir/net/socket_address.h"
#include "weir/net/socket_set.h"
#include "weir/net/timer.h"
#include "weir/proxy/context.h"
#include "weir/proxy/first_byte.h"
#include "weir/proxy/listener_state.h"
#include "weir/proxy/parting.h"
#include "weir/proxy/relay.h"
#include "weir/proxy/session_view.h"
#include "weir/upstream/connector.h"

namespace weir::proxy {

// One accepted client, from accept to the close of both sockets: admission, dial, relay, parting.
// Lives on the worker that accepted it; owned by its SessionTable. Every way out passes through
// end(), once, with one reason, and through one access log line.
class Session final : public net::SocketWatcher,
                      public net::Resumable,
                      public upstream::Connector::Owner,
                      private core::Waiter::Watcher {
 public:
  Session(const Context& context, std::shared_ptr<ListenerState> listener,
          std::shared_ptr<upstream::Pool> pool, net::Descriptor client,
          const net::SocketAddress& peer, net::DescriptorShare descriptors);
  ~Session() override;

  // Begins to serve the client, or refuses it without. Either may end it at once.
  void start();
  void refuse(core::CloseReason reason);
  // Ends it from outside; a session that is already parting parts at once. With `at_once` nothing
  // is waited for: the process is about to go. False when it had ended before.
  bool cut(core::CloseReason reason, bool at_once = false);

  // Its wait for a slot has been decided.
  void on_turn();

  std::uint64_t id() const { return id_; }
  // What an observer sees of it, and whether it is one of those meant.
  SessionView view() const;
  bool matches(const SessionFilter& filter) const;
  // The one that it dials or is connected to; null before, between two dials, and after.
  const upstream::Backend* backend() const;

 private:
  enum class Phase : std::uint8_t { accepted, queued, dialling, relaying, parting, done };

  void on_ready() override;
  void resume() override;
  void on_timer();
  void on_connected(upstream::Connection connection) override;
  void on_dial_failed(core::CloseReason reason) override;

  void on_decided() noexcept override;

  // Registers the client's socket; ends the session when that fails.
  bool watch_client();
  void park();
  // Ends a session that waits, or only its wait: for `reason` if it was not decided before.
  void leave_queue(core::CloseReason reason);
  void leave_queue_at(core::TimePoint now);
  core::CloseReason give_up_place(core::CloseReason reason);
  void dial();
  void leave_dial(core::CloseReason reason);
  // Before the relay: whether the client has left, and how.
  std::optional<core::CloseReason> client_left();
  void relay_on();
  // `circuit_success: first_byte`: what the relay shows of the backend, and its silence.
  void look_for_first_byte();
  void first_byte_missing();
  // The client has left a backend that was asked and has not answered.
  void leave_unanswered();
  void arm_timer();
  void end(const RelayEnd& how);
  void part();
  void finish();
  void write_access_log();

  const Context& context_;
  const std::shared_ptr<ListenerState> listener_;
  std::shared_ptr<upstream::Pool> pool_;  // that of the configuration it was served by last
  const std::uint64_t id_;
  const std::uint64_t config_generation_;
  Phase phase_ = Phase::accepted;
  bool client_sent_something_ = false;
  core::CloseReason reason_ = core::CloseReason::client_closed;

  net::SocketAddress peer_;
  core::TimePoint accepted_;
  core::TimePoint
      admitted_;  // left the queue, with or without a slot; accepted_ if it never waited
  core::TimePoint dial_started_{};
  core::TimePoint connected_{};
  core::TimePoint keepalive_due_ = core::kNever;
  core::TimePoint ended_{};

  net::DescriptorShare descriptors_;
  core::SourceLimits::Guard source_;
  ConnectionGuard connection_;
  core::Slot slot_;               // until the backend's socket is closed
  upstream::BackendLease lease_;  // likewise, and given back before the slot
  net::Socket client_;
  net::Socket backend_;
  net::Timer timer_;

  std::unique_ptr<upstream::Connector> connector_;
  std::vector<upstream::Attempt> attempts_;
  std::optional<Relay> relay_;
  std::unique_ptr<FirstByte> first_byte_;  // while the backend's verdict waits for it
  Parting client_parting_;
  Parting backend_parting_;

  core::Waiter waiter_;  // the last: out of the queue before anything else goes
};

}  // namespace weir::proxy
