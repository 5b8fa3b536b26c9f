#include "weir/net/acceptor.h"

#include <poll.h>
#include <sys/socket.h>
#include <uv.h>

#include <cerrno>

#include "net/uv_handle.h"
#include "weir/net/loop.h"

namespace weir::net {
namespace {

// Accepted in one go before the sockets accepted earlier get their turn.
constexpr int kBatch = 64;

// How long to leave the queue alone at the descriptor limit: short against a client's patience,
// long enough to cost nothing.
constexpr core::Duration kPause = std::chrono::milliseconds(50);

// How long a drain waits for the last packet of handshakes that had begun before it: a round trip
// to a client not too far away. There is no way to ask how many there are.
constexpr core::Duration kHandshake = std::chrono::milliseconds(50);

AcceptError classify(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return AcceptError::fd_limit;
    case ENOBUFS:
    case ENOMEM:
      return AcceptError::no_memory;
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
      return AcceptError::aborted;  // gone, or dropped by a firewall rule, before we came
    default:
      return AcceptError::other;
  }
}

}  // namespace

std::string_view name(AcceptError error) {
  switch (error) {
    case AcceptError::fd_limit:
      return "fd_limit";
    case AcceptError::no_memory:
      return "no_memory";
    case AcceptError::aborted:
      return "aborted";
    case AcceptError::other:
      return "other";
  }
  return "other";
}

struct Acceptor::Handle : UvHandle<uv_poll_t> {
  using UvHandle::UvHandle;
};

Acceptor::Acceptor(Loop& loop, ListenSocket socket, Owner& owner)
    : loop_(loop),
      socket_(std::move(socket)),
      owner_(owner),
      poll_(std::make_unique<Handle>(
          this, "uv_poll_init",
          [this](uv_poll_t* handle) { return uv_poll_init(loop_.uv(), handle, socket_.fd()); })),
      pause_(loop, [this] {
        start();
        // The queue may have been emptied by what came before the pause, and then reports nothing.
        if (settled_at_ != core::kNever) accept_some();
      }) {
  start();
}

Acceptor::~Acceptor() {
  poll_.reset();  // before the descriptor that it watches
}

void Acceptor::start() {
  require(uv_poll_start(poll_->get(), UV_READABLE,
                        [](uv_poll_t* handle, int, int) {
                          if (handle->data != nullptr) {
                            static_cast<Acceptor*>(handle->data)->accept_some();
                          }
                        }),
          "uv_poll_start");
}

void Acceptor::accept_some() {
  if (held_) return;
  loop_.refresh_now();
  Accept last = Accept::another;
  for (int i = 0; i < kBatch && last == Accept::another; ++i) {
    last = owner_.may_accept() ? accept_one() : leave_waiting();
  }
  owner_.on_batch_over();
  if (last == Accept::not_now) return pause();
  if (settled_at_ == core::kNever) return;
  // A queue that a full batch has emptied would report nothing any more.
  if (last == Accept::another) return pause_.arm(loop_.now());
  if (loop_.now() < settled_at_) return pause_.arm(settled_at_);
  pause_.cancel();
  poll_.reset();
  socket_.close();
  owner_.on_drained();
}

Acceptor::Accept Acceptor::leave_waiting() {
  pollfd queue{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
  if (::poll(&queue, 1, 0) == 0) return Accept::empty;
  owner_.on_accept_error(AcceptError::fd_limit);
  return Accept::not_now;
}

Acceptor::Accept Acceptor::accept_one() {
  sockaddr_storage storage;
  socklen_t length = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  Descriptor accepted(::accept4(socket_.fd(), address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (accepted) {
    owner_.on_accepted(std::move(accepted), SocketAddress::from(address, length));
    return Accept::another;
  }
  if (errno == EAGAIN) return Accept::empty;
  if (errno == EINTR) return Accept::another;
  const AcceptError error = classify(errno);
  owner_.on_accept_error(error);
  return error == AcceptError::aborted ? Accept::another : Accept::not_now;
}

void Acceptor::pause() {
  uv_poll_stop(poll_->get());
  pause_.arm(loop_.now() + kPause);
}

void Acceptor::hold() {
  held_ = true;
  pause_.cancel();
  if (poll_) uv_poll_stop(poll_->get());
}

void Acceptor::go_on() {
  held_ = false;
  if (!poll_) return;
  start();
  if (settled_at_ != core::kNever) pause_.arm(loop_.now());  // a drain was under way
}

void Acceptor::drain() {
  held_ = false;
  socket_.stop_handshakes();
  const core::TimePoint now = loop_.refresh_now();
  settled_at_ = socket_.is_unix() ? now : now + kHandshake;
  pause_.cancel();
  start();
  accept_some();
}

}  // namespace weir::net
