#include "weir/proxy/listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weir/net/acceptor.h"
#include "weir/net/log.h"
#include "weir/proxy/session.h"
#include "weir/proxy/session_table.h"

namespace weir::proxy {

// One of its addresses.
class Listener::Address final : public net::Acceptor::Owner {
 public:
  Address(Listener& listener, AddressId id, net::ListenSocket socket)
      : listener_(listener), id_(id), acceptor_(listener.context_.loop, std::move(socket), *this) {}

  AddressId id() const { return id_; }
  net::Acceptor& acceptor() { return acceptor_; }
  const net::ListenSocket& socket() { return acceptor_.socket(); }

 private:
  bool may_accept() override { return listener_.may_accept(); }
  void on_accepted(net::Descriptor socket, const net::SocketAddress& peer) override {
    listener_.accepted(std::move(socket), peer);
  }
  void on_accept_error(net::AcceptError error) override { listener_.failed(error); }
  void on_batch_over() override { listener_.next_ = {}; }
  void on_drained() override { listener_.closed(*this); }

  Listener& listener_;
  const AddressId id_;
  net::Acceptor acceptor_;
};

Listener::Listener(const Context& context, std::shared_ptr<ListenerState> state,
                   std::shared_ptr<upstream::Pool> pool, core::AccessList access)
    : context_(context),
      state_(std::move(state)),
      pool_(std::move(pool)),
      access_(std::move(access)) {}

Listener::~Listener() = default;

void Listener::listen(AddressId id, net::ListenSocket socket) {
  closed_.clear();
  addresses_.push_back(std::make_unique<Address>(*this, id, std::move(socket)));
}

std::vector<net::ListenSocket> Listener::release(AddressId id) {
  std::vector<net::ListenSocket> sockets;
  addresses_.remove_if([&](const auto& address) {
    if (address->id() != id) return false;
    sockets.push_back(std::move(address->acceptor().socket()));
    return true;
  });
  return sockets;
}

std::vector<std::pair<AddressId, net::ListenSocket>> Listener::share() const {
  std::vector<std::pair<AddressId, net::ListenSocket>> shared;
  for (const auto& address : addresses_) {
    shared.emplace_back(address->id(), address->socket().share());
  }
  return shared;
}

void Listener::hold() {
  for (const auto& address : addresses_) address->acceptor().hold();
}

void Listener::go_on() {
  for (const auto& address : addresses_) address->acceptor().go_on();
}

void Listener::take_paths() {
  for (const auto& address : addresses_) {
    std::string none;  // asked for no access, it cannot fail
    address->acceptor().socket().take_path(std::nullopt, none);
  }
}

void Listener::leave(const std::set<AddressId>& ids) {
  addresses_.remove_if([&ids](const auto& address) {
    if (ids.count(address->id()) == 0) return false;
    address->acceptor().socket().disown();
    return true;
  });
}

// A drain may come to its end at once, and takes its address out of the list.
void Listener::stop(AddressId id) {
  for (auto next = addresses_.begin(); next != addresses_.end();) {
    Address& address = **next++;
    if (address.id() == id) address.acceptor().drain();
  }
}

void Listener::retire(std::function<void()> gone) {
  on_gone_ = nullptr;
  for (auto next = addresses_.begin(); next != addresses_.end();) (*next++)->acceptor().drain();
  on_gone_ = std::move(gone);
  report_if_gone();
}

void Listener::drain(std::function<void()> drained) {
  refusing_ = true;
  retire(std::move(drained));
}

void Listener::closed(Address& address) {
  const auto found = std::find_if(addresses_.begin(), addresses_.end(),
                                  [&address](const auto& each) { return each.get() == &address; });
  closed_.splice(closed_.end(), addresses_, found);
  const bool last = std::none_of(addresses_.begin(), addresses_.end(),
                                 [&](const auto& each) { return each->id() == address.id(); });
  if (last && address_closed_) address_closed_(address.id());
  report_if_gone();
}

void Listener::report_if_gone() {
  if (on_gone_ && addresses_.empty()) std::exchange(on_gone_, nullptr)();
}

bool Listener::may_accept() {
  if (!next_) next_ = net::DescriptorShare(context_.descriptors);
  return static_cast<bool>(next_);
}

// Who comes through a unix socket has passed its file's mode.
bool Listener::admits(const net::SocketAddress& peer) const {
  if (access_.empty()) return true;
  const auto address = peer.ip();
  return !address || access_.admits(*address);
}

void Listener::accepted(net::Descriptor socket, const net::SocketAddress& peer) {
  state_->totals(context_.worker).accepted.add();
  Session& session = context_.sessions.add(std::make_unique<Session>(
      context_, state_, pool_, std::move(socket), peer, std::move(next_)));
  if (refusing_) {
    session.refuse(core::CloseReason::shutdown);
  } else if (!admits(peer)) {
    session.refuse(core::CloseReason::access_denied);
  } else {
    session.start();
  }
}

void Listener::failed(net::AcceptError error) {
  state_->totals(context_.worker).accept_errors[static_cast<std::size_t>(error)].add();
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
  if (!state_->log_rate(error).admit(context_.loop.now(), held_back)) return;
  net::log(
      net::LogLevel::warning, "listener " + state_->name(),
      "{}: clients wait in the kernel's queue until sessions end ({} descriptors in use by "
      "sessions, {} allowed){}",
      what, context_.descriptors.used(), context_.descriptors.capacity(),
      held_back == 0 ? "" : fmt::format("; {} times more since this was last said", held_back));
}

}  // namespace weir::proxy
