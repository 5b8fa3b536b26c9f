#include "app/worker_thread.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "weir/proxy/session.h"

namespace weir::app {

Worker::Thread::Thread(Worker& worker, const Shared& shared, std::uint64_t last_session)
    : on_listener_gone_(shared.on_listener_gone),
      on_address_closed_(shared.on_address_closed),
      random_(std::random_device{}()),
      selector_(random_),
      scratch_(std::make_unique<std::array<char, kScratch>>()),
      context_{worker.loop_,
               {{worker.loop_, shared.resolver, random_}, selector_, worker.index_},
               shared.descriptors,
               shared.access_log.lane(worker.index_),
               clock_,
               *scratch_,
               random_,
               worker.index_,
               sessions_,
               lone_dials_,
               1},
      lone_dials_(worker.loop_),
      sessions_(worker.loop_, last_session + worker.index_, worker.workers_, worker.sessions_) {}

proxy::Listener& Worker::Thread::listener(const ListenerChange& change) {
  for (const auto& listener : listeners_) {
    if (&listener->state() == change.state.get()) return *listener;
  }
  listeners_.push_back(
      std::make_unique<proxy::Listener>(context_, change.state, change.pool, change.access));
  listeners_.back()->on_address_closed(on_address_closed_);
  return *listeners_.back();
}

std::vector<net::ListenSocket> Worker::Thread::take_over(proxy::AddressId id) {
  for (const auto& listener : listeners_) {
    auto sockets = listener->release(id);
    if (!sockets.empty()) return sockets;
  }
  return {};
}

void Worker::Thread::retire(const std::shared_ptr<proxy::ListenerState>& state) {
  const auto found = std::find_if(listeners_.begin(), listeners_.end(), [&](const auto& listener) {
    return &listener->state() == state.get();
  });
  if (found == listeners_.end()) return;
  proxy::Listener& listener = **found;
  retiring_.splice(retiring_.end(), listeners_, found);
  listener.retire([this, state] {
    if (on_listener_gone_) on_listener_gone_(*state);
  });
}

// First of all the addresses that change hands, before a listener that is to go closes them.
void Worker::Thread::apply(Change& change) {
  context_.config_generation = change.config_generation;
  retiring_.remove_if([](const auto& listener) { return listener->gone(); });
  std::map<proxy::AddressId, std::vector<net::ListenSocket>> taken;
  for (const ListenerChange& each : change.listeners) {
    for (const proxy::AddressId id : each.taken_over) taken.emplace(id, take_over(id));
  }
  for (ListenerChange& each : change.listeners) {
    if (!each.pool) {
      retire(each.state);
      continue;
    }
    proxy::Listener& there = listener(each);
    there.retune(each.pool, each.access);
    for (Address& address : each.opened) there.listen(address.id, std::move(address.socket));
    for (const proxy::AddressId id : each.taken_over) {
      for (net::ListenSocket& socket : taken[id]) there.listen(id, std::move(socket));
    }
    for (const proxy::AddressId id : each.closed) there.stop(id);
  }
}

std::vector<proxy::SessionView> Worker::Thread::views(const proxy::SessionFilter& filter,
                                                      std::size_t most) {
  std::vector<const proxy::Session*> meant;
  sessions_.for_each([&](proxy::Session& session) {
    if (session.matches(filter)) meant.push_back(&session);
  });
  const auto older = [](const proxy::Session* a, const proxy::Session* b) {
    return a->id() < b->id();
  };
  const auto shown = meant.begin() + static_cast<std::ptrdiff_t>(std::min(most, meant.size()));
  std::partial_sort(meant.begin(), shown, meant.end(), older);
  std::vector<proxy::SessionView> views;
  std::transform(meant.begin(), shown, std::back_inserter(views),
                 [](const proxy::Session* session) { return session->view(); });
  return views;
}

std::unique_ptr<proxy::SessionView> Worker::Thread::view(std::uint64_t id) {
  const proxy::Session* const session = sessions_.find(id);
  return session != nullptr ? std::make_unique<proxy::SessionView>(session->view()) : nullptr;
}

std::size_t Worker::Thread::end_session(std::uint64_t id, core::CloseReason reason) {
  proxy::Session* const session = sessions_.find(id);
  if (session == nullptr) return 0;
  return session->cut(reason) ? 1 : 0;
}

std::size_t Worker::Thread::end_sessions(const upstream::Backend& backend,
                                         core::CloseReason reason) {
  std::size_t ended = 0;
  sessions_.for_each([&](proxy::Session& session) {
    if (session.backend() != &backend) return;
    if (session.cut(reason)) ++ended;
  });
  if (reason == core::CloseReason::backend_drained) lone_dials_.cancel(backend);
  return ended;
}

std::vector<Worker::Address> Worker::Thread::share() {
  std::vector<Address> shared;
  for (const auto& listener : listeners_) {
    for (auto& [id, socket] : listener->share()) shared.push_back({id, std::move(socket)});
  }
  return shared;
}

std::uint64_t Worker::Thread::hold() {
  for (const auto& listener : listeners_) listener->hold();
  for (const auto& listener : retiring_) listener->hold();
  return sessions_.last_id();
}

void Worker::Thread::go_on() {
  for (const auto& listener : listeners_) listener->go_on();
  for (const auto& listener : retiring_) listener->go_on();
}

void Worker::Thread::leave(const std::set<proxy::AddressId>& ids) {
  for (const auto& listener : listeners_) listener->leave(ids);
}

void Worker::Thread::take_paths() {
  for (const auto& listener : listeners_) listener->take_paths();
}

void Worker::Thread::drain(std::function<void()> drained) {
  drained_ = std::move(drained);
  sessions_.on_empty([this] { report_if_drained(); });
  listeners_.splice(listeners_.end(), retiring_);
  listening_ = listeners_.size();
  for (const auto& listener : listeners_) {
    listener->drain([this] {
      if (listening_ > 0) --listening_;  // a cut may have been quicker
      report_if_drained();
    });
  }
  report_if_drained();
}

void Worker::Thread::cut(core::CloseReason reason, bool at_once) {
  if (at_once) {  // what still waits in a queue goes with the process
    listeners_.clear();
    retiring_.clear();
    listening_ = 0;
  }
  sessions_.for_each([=](proxy::Session& session) { session.cut(reason, at_once); });
  report_if_drained();
}

void Worker::Thread::report_if_drained() {
  if (!drained_ || listening_ > 0 || !sessions_.empty()) return;
  lone_dials_.cancel();
  std::exchange(drained_, nullptr)();
}

}  // namespace weir::app
