#include "weir/proxy/listener.h"

#include <fmt/format.h>

#include <utility>

#include "weir/net/log.h"
#include "weir/proxy/session.h"
#include "weir/proxy/session_table.h"

namespace weir::proxy {

Listener::Listener(const Context& context, ListenerState& state,
                   std::vector<net::ListenSocket> sockets)
    : context_(context), state_(state) {
  for (net::ListenSocket& socket : sockets) {
    acceptors_.push_back(std::make_unique<net::Acceptor>(context.loop, std::move(socket), *this));
  }
}

void Listener::drain(std::function<void()> drained) {
  draining_ = true;
  drained_ = std::move(drained);
  undrained_ = acceptors_.size() + 1;
  for (const auto& acceptor : acceptors_) acceptor->drain();
  on_drained();
}

void Listener::on_drained() {
  if (--undrained_ == 0) drained_();
}

bool Listener::may_accept() {
  if (!next_) next_ = net::DescriptorShare(context_.descriptors);
  return static_cast<bool>(next_);
}

void Listener::on_batch_over() { next_ = {}; }

void Listener::on_accepted(net::Descriptor socket, const net::SocketAddress& peer) {
  state_.totals(context_.worker).accepted.add();
  Session& session = context_.sessions.add(
      std::make_unique<Session>(context_, state_, std::move(socket), peer, std::move(next_)));
  if (draining_) {
    session.refuse(core::CloseReason::shutdown);
  } else {
    session.start();
  }
}

void Listener::on_accept_error(net::AcceptError error) {
  state_.totals(context_.worker).accept_errors[static_cast<std::size_t>(error)].add();
  switch (error) {
    case net::AcceptError::fd_limit:
      return report(error, "the descriptor limit is reached");
    case net::AcceptError::no_memory:
      return report(error, "the kernel has no memory for sockets");
    case net::AcceptError::other:
      return report(error, "accept fails");
    case net::AcceptError::aborted:
      return;  // the client's business
  }
}

void Listener::report(net::AcceptError error, const char* what) {
  std::uint64_t held_back = 0;
  if (!state_.log_rate(error).admit(context_.loop.now(), held_back)) return;
  net::log(
      net::LogLevel::warning, "listener " + state_.options().name,
      "{}: clients wait in the kernel's queue until sessions end ({} descriptors in use by "
      "sessions, {} allowed){}",
      what, context_.descriptors.used(), context_.descriptors.capacity(),
      held_back == 0 ? "" : fmt::format("; {} times more since this was last said", held_back));
}

}  // namespace weir::proxy
