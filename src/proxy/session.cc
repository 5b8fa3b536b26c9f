#include "weir/proxy/session.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "weir/core/balancer.h"
#include "weir/net/loop.h"
#include "weir/proxy/access_entry.h"
#include "weir/proxy/session_table.h"
#include "weir/upstream/pool.h"

namespace weir::proxy {

using core::CloseReason;

namespace {

// Keepalive is about sessions that last: ten system calls that the others are spared. Shorter than
// the shortest silence that it can be asked to bound.
constexpr core::Duration kKeepaliveDelay = std::chrono::milliseconds(500);

// The end of a client that was never served.
RelayEnd refusal(CloseReason reason) { return {reason, Manner::linger, Manner::close}; }

}  // namespace

Session::Session(const Context& context, std::shared_ptr<ListenerState> listener,
                 std::shared_ptr<upstream::Pool> pool, net::Descriptor client,
                 const net::SocketAddress& peer, net::DescriptorShare descriptors)
    : context_(context),
      listener_(std::move(listener)),
      pool_(std::move(pool)),
      id_(context.sessions.next_id()),
      config_generation_(context.config_generation),
      peer_(peer),
      accepted_(context.loop.now()),
      admitted_(accepted_),
      descriptors_(std::move(descriptors)),
      client_(std::move(client)),
      timer_(context.loop, [this] { on_timer(); }),
      waiter_(listener_.get(), *this) {
  client_.set_tcp(peer_.family() != AF_UNIX);
}

Session::~Session() = default;

bool Session::watch_client() {
  if (client_.watch(context_.loop.sockets(), *this)) return true;
  end({CloseReason::local_error, Manner::abort, Manner::close});
  return false;
}

void Session::start() {
  if (!watch_client()) return;
  if (const auto source = peer_.ip()) {
    auto admitted = listener_->sources().admit(*source, accepted_);
    if (!admitted) return end(refusal(CloseReason::source_limit));
    source_ = std::move(*admitted);
  }
  connection_ = listener_->admit();
  if (!connection_) return end(refusal(CloseReason::listener_full));
  core::Admitted admitted = pool_->admission().admit(waiter_);
  switch (admitted.outcome) {
    case core::Admitted::Outcome::refused:
      return end(refusal(admitted.reason));
    case core::Admitted::Outcome::parked:
      return park();
    case core::Admitted::Outcome::granted:
      slot_ = std::move(admitted.slot);
      break;
  }
  // The dial begins after one look at the sockets: most clients' first bytes have come with the
  // handshake, and knowing of them saves a packet (net::ConnectOptions::data_follows).
  context_.loop.sockets().resume_later(*this);
}

// The socket stays watched: who leaves must not keep a place, nor be dialled for.
void Session::park() {
  phase_ = Phase::queued;
  // A client that vanishes here would keep its place.
  client_.set_keepalive(pool_->options().keepalive);
  timer_.arm(core::deadline(accepted_, pool_->options().resilience.pending_timeout));
  if (client_left()) leave_queue(CloseReason::client_left_queue);
}

// Any thread: only wakes the session's own.
void Session::on_decided() noexcept {
  context_.loop.post([&sessions = context_.sessions, id = id_] {
    if (Session* session = sessions.find(id)) session->on_turn();
  });
}

void Session::on_turn() {
  if (phase_ != Phase::queued || !waiter_.waiting()) return;
  core::Admitted admitted = waiter_.take();
  leave_queue_at(context_.loop.now());
  timer_.cancel();
  if (admitted.outcome == core::Admitted::Outcome::refused) return end(refusal(admitted.reason));
  slot_ = std::move(admitted.slot);
  // As after a grant at once: one look at the socket, for the client may have left by now.
  phase_ = Phase::accepted;
  context_.loop.sockets().resume_later(*this);
}

void Session::leave_queue_at(core::TimePoint now) {
  admitted_ = now;
  pool_->totals(context_.worker).queue.add(now - accepted_);
}

void Session::leave_queue(CloseReason reason) { end(refusal(give_up_place(reason))); }

CloseReason Session::give_up_place(CloseReason reason) {
  leave_queue_at(context_.loop.now());
  timer_.cancel();
  return waiter_.cancel(reason);
}

void Session::dial() {
  phase_ = Phase::dialling;
  dial_started_ = context_.loop.now();
  if (const auto left = client_left()) return end({*left, Manner::close, Manner::close});
  // Who waited is dialled for by the configuration now in force.
  if (auto successor = pool_->successor()) pool_ = std::move(successor);
  connector_ = std::make_unique<upstream::Connector>(context_.dial, *pool_,
                                                     core::source_hash(peer_.host_bytes()),
                                                     client_.readable(), timer_, *this);
  connector_->start();
}

// The dial may be the one that goes on without its client.
void Session::leave_dial(CloseReason reason) {
  attempts_ = connector_->take_attempts();
  if (auto dial = connector_->take_lone_dial()) {
    context_.lone_dials.go_on(std::move(dial), pool_, std::move(descriptors_));
  }
  connector_.reset();
  end({reason, Manner::close, Manner::close});
}

void Session::refuse(CloseReason reason) {
  if (watch_client()) end(refusal(reason));
}

bool Session::cut(CloseReason reason, bool at_once) {
  if (phase_ == Phase::parting || phase_ == Phase::done) {
    if (phase_ == Phase::parting && at_once) finish();
    return false;
  }
  if (phase_ == Phase::queued) reason = give_up_place(reason);
  RelayEnd how = relay_ ? relay_->cut(reason) : refusal(reason);
  if (at_once) how.client = how.backend = Manner::abort;
  end(how);
  return true;
}

void Session::on_ready() {
  switch (phase_) {
    case Phase::accepted:
    case Phase::done:
      return;
    case Phase::queued:
      if (client_left()) leave_queue(CloseReason::client_left_queue);
      return;
    case Phase::dialling:
      if (const auto left = client_left()) leave_dial(*left);
      return;
    case Phase::relaying:
      if (relay_->bulk()) return context_.loop.sockets().resume_later(*this);
      return relay_on();
    case Phase::parting:
      return part();
  }
}

void Session::resume() {
  switch (phase_) {
    case Phase::accepted:
      return dial();
    case Phase::relaying:
      return relay_on();
    case Phase::parting:
      return part();
    case Phase::queued:
    case Phase::dialling:
    case Phase::done:
      return;
  }
}

void Session::on_timer() {
  const core::TimePoint now = context_.loop.now();
  switch (phase_) {
    case Phase::accepted:
    case Phase::done:
      return;
    case Phase::queued:
      return leave_queue(CloseReason::pending_timeout);
    case Phase::dialling:
      return connector_->on_timer();
    case Phase::relaying:
      if (first_byte_ && now >= first_byte_->deadline(*relay_)) return first_byte_missing();
      if (const auto how = relay_->on_deadline(now)) return end(*how);
      if (now >= keepalive_due_) {
        keepalive_due_ = core::kNever;
        client_.set_keepalive(pool_->options().keepalive);
        backend_.set_keepalive(pool_->options().keepalive);
      }
      return arm_timer();
    case Phase::parting:
      return part();
  }
}

// A close and a half-close look the same on TCP. A FIN after at least one byte keeps the dial
// going, for the answer may still be wanted; a FIN before any byte, or a reset, means that the
// client has left. On a unix socket a full close tells itself apart.
std::optional<CloseReason> Session::client_left() {
  if (client_.peer_failed()) {
    return client_.is_tcp() ? CloseReason::client_reset : CloseReason::client_closed;
  }
  if (!client_.peer_ended() || client_sent_something_) return std::nullopt;
  switch (client_.peek()) {
    case net::IoResult::Status::end:
      return CloseReason::client_closed;
    case net::IoResult::Status::failed:
      return CloseReason::client_reset;
    case net::IoResult::Status::done:
      client_sent_something_ = true;
      break;
    case net::IoResult::Status::blocked:
      break;
  }
  return std::nullopt;
}

void Session::on_connected(upstream::Connection connection) {
  attempts_ = connector_->take_attempts();
  backend_ = std::move(connection.socket);
  lease_ = std::move(connection.lease);
  backend_.set_watcher(*this);
  connected_ = context_.loop.now();
  keepalive_due_ = connected_ + kKeepaliveDelay;
  relay_.emplace(client_, backend_, pool_->options().timeouts, listener_->totals(context_.worker),
                 admitted_, connected_, context_.rng);
  if (connection.verdict) {
    first_byte_ = std::make_unique<FirstByte>(std::move(connection.verdict),
                                              pool_->options().resilience.first_byte_timeout);
  }
  phase_ = Phase::relaying;
  const bool data_followed = connector_->data_follows();
  connector_.reset();
  relay_on();
  if (data_followed && backend_ && backend_.is_tcp()) backend_.hold_acknowledgements(false);
}

void Session::on_dial_failed(CloseReason reason) {
  // It had less time than a backend is given: its last dial may go on without it. The client is
  // still to be parted from, so the dial needs a share of its own.
  if (auto dial = connector_->take_lone_dial()) {
    context_.lone_dials.go_on(std::move(dial), pool_, net::DescriptorShare(context_.descriptors));
  }
  end(refusal(reason));
}

void Session::relay_on() {
  const auto how = relay_->step(context_.scratch, context_.loop.now());
  if (first_byte_) look_for_first_byte();
  if (how) {
    const bool left =
        how->reason == CloseReason::client_reset || how->reason == CloseReason::client_closed;
    if (first_byte_ && left) leave_unanswered();
    return end(*how);
  }
  if (relay_->wants_turn()) context_.loop.sockets().resume_later(*this);
  arm_timer();
}

void Session::look_for_first_byte() {
  const auto outcome = first_byte_->look(*relay_, context_.loop.now());
  if (!outcome) return;
  attempts_.back().outcome = *outcome;
  first_byte_.reset();
}

// Where more sockets are ready than one turn fetches, the answer may be in the kernel still.
void Session::first_byte_missing() {
  if (backend_.peek() != net::IoResult::Status::blocked) {
    return context_.loop.sockets().resume_later(*this);
  }
  first_byte_->timed_out(context_.loop.now());
  attempts_.back().outcome = core::DialOutcome::first_byte_timeout;
  first_byte_.reset();
  // A backend that is stuck learns by a reset that nobody waits for its answer any more.
  end({CloseReason::first_byte_timeout, Manner::linger, Manner::abort});
}

void Session::leave_unanswered() {
  if (!first_byte_->may_go_on(*relay_) || !lease_.go_alone()) return;
  const core::TimePoint deadline = first_byte_->deadline(*relay_);
  context_.lone_dials.go_on({std::move(backend_), std::move(lease_), first_byte_->take()}, pool_,
                            deadline, relay_->client_ended(), std::move(descriptors_));
}

void Session::arm_timer() {
  const core::TimePoint deadline = std::min(relay_->next_deadline(), keepalive_due_);
  timer_.arm(first_byte_ ? std::min(deadline, first_byte_->deadline(*relay_)) : deadline);
}

void Session::end(const RelayEnd& how) {
  reason_ = how.reason;
  phase_ = Phase::parting;
  const core::TimePoint now = context_.loop.now();
  ended_ = now;
  first_byte_.reset();  // undecided, then
  if (connector_) {
    attempts_ = connector_->take_attempts();
    connector_.reset();
  }
  const core::Duration linger = pool_->options().timeouts.linger;
  client_parting_ = Parting(client_, how.client, linger, now);
  backend_parting_ = Parting(backend_, how.backend, linger, now);
  part();
}

void Session::part() {
  const core::TimePoint now = context_.loop.now();
  const bool client_gone = client_parting_.step(client_, context_.scratch, now);
  const bool backend_gone = backend_parting_.step(backend_, context_.scratch, now);
  if (backend_gone) {
    lease_ = {};
    slot_ = {};
  }
  if (client_gone && backend_gone) return finish();
  if (client_parting_.wants_turn() || backend_parting_.wants_turn()) {
    context_.loop.sockets().resume_later(*this);
  }
  timer_.arm(std::min(client_parting_.next_look(), backend_parting_.next_look()));
}

void Session::finish() {
  phase_ = Phase::done;
  timer_.cancel();
  client_.close();
  backend_.close();
  lease_ = {};
  slot_ = {};
  connection_ = {};
  descriptors_ = {};
  listener_->totals(context_.worker).closed[static_cast<std::size_t>(reason_)].add();
  if (context_.access_log.wanted()) write_access_log();
  context_.sessions.retire(*this);
}

void Session::write_access_log() {
  AccessEntry entry;
  entry.session = id_;
  entry.listener = listener_->name();
  entry.client = peer_.text();
  entry.pool = pool_->options().name;
  entry.attempts = attempts_;
  if (relay_) {
    entry.connect = connected_ - dial_started_;
    if (relay_->first_byte() != core::kNever) entry.first_byte = relay_->first_byte() - accepted_;
    entry.bytes_in = relay_->bytes_in();
    entry.bytes_out = relay_->bytes_out();
  }
  entry.queue = admitted_ - accepted_;
  entry.duration = ended_ - accepted_;
  entry.reason = reason_;
  entry.config_generation = config_generation_;
  static thread_local std::string line;
  line.clear();
  append(line, entry, context_.clock);
  context_.access_log.write(line);
}

}  // namespace weir::proxy
