#include "weir/app/serving.h"

#include <algorithm>
#include <random>
#include <utility>

#include "weir/app/binds.h"
#include "weir/net/log.h"
#include "weir/net/steady_clock.h"

namespace weir::app {
namespace {

template <typename Counts>
void add(Counts& sum, const auto& counters) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counters[i].value();
}

admin::Snapshot::Listener shown(const proxy::ListenerState& state, const upstream::Pool& pool) {
  admin::Snapshot::Listener listener;
  listener.name = state.name();
  listener.pool = pool.options().name;
  listener.max_connections = state.max_connections();
  listener.connections = state.connections();
  for (std::size_t worker = 0; worker < state.workers(); ++worker) {
    const proxy::ListenerTotals& totals = state.totals(worker);
    listener.accepted += totals.accepted.value();
    listener.bytes_in += totals.bytes_in.value();
    listener.bytes_out += totals.bytes_out.value();
    add(listener.accept_errors, totals.accept_errors);
    add(listener.closed, totals.closed);
  }
  return listener;
}

bool deserted(upstream::Pool& pool) {
  const core::AdmissionSnapshot admission = pool.admission().snapshot();
  if (admission.active != 0 || admission.pending != 0) return false;
  return std::all_of(pool.backends().begin(), pool.backends().end(),
                     [](const auto& backend) { return backend->deserted(); });
}

}  // namespace

struct Serving::Closing {
  Bind bind;
  std::size_t workers;  // that have not closed it
};

Serving::Serving(const Shared& shared, std::size_t workers) : shared_(shared), workers_(workers) {}

Serving::~Serving() = default;

std::shared_ptr<upstream::Pool> Serving::find(const Pools& pools, const std::string& name) {
  const auto found = std::find_if(pools.begin(), pools.end(), [&name](const auto& pool) {
    return pool->options().name == name;
  });
  return found == pools.end() ? nullptr : *found;
}

std::optional<BindFailure> Serving::prepare(const config::Configuration& next) {
  std::vector<Rebinding::Inherited> none;
  return prepare(next, none, Listening::at_once);
}

std::optional<BindFailure> Serving::prepare(const config::Configuration& next,
                                            std::vector<Rebinding::Inherited>& inherited,
                                            Listening listening) {
  std::vector<BoundListener> now;
  for (const Served& served : listeners_) now.push_back({served.state->name(), served.binds});
  std::vector<Bind> closing;
  for (const Closing& each : closing_) closing.push_back(each.bind);
  prepared_ = std::make_unique<Rebinding>(std::move(closing), listening);
  auto failure = prepared_->open(now, next.listeners, workers_, last_address_, inherited);
  if (failure) prepared_.reset();
  return failure;
}

void Serving::give_up() { prepared_.reset(); }

std::shared_ptr<upstream::Pool> Serving::next_pool(const upstream::PoolOptions& options) {
  std::shared_ptr<upstream::Pool> before = find(pools_, options.name);
  if (before && before->options() == options) return before;
  if (!before) {
    before = find(removed_pools_, options.name);
    std::erase(removed_pools_, before);
  }
  if (!before) return upstream::Pool::make(options, workers_, &shared_.journal);
  return upstream::Pool::reload(before, options, shared_.control.refresh_now());
}

void Serving::check_on(const std::shared_ptr<upstream::Pool>& pool) {
  auto& checker = checkers_[pool->options().name];
  if (!pool->options().health) {
    checker.reset();
  } else if (checker) {
    checker->retune(pool);
  } else {
    checker = std::make_unique<upstream::HealthChecker>(shared_.control, shared_.resolver, pool,
                                                        std::random_device{}());
  }
}

// Whichever listener they came through, which may have another pool by now.
void Serving::refuse_waiters_of(const std::shared_ptr<upstream::Pool>& pool) {
  for (const Served& served : listeners_) to_refuse_.emplace_back(pool, served.state.get());
  for (const Leaving& leaving : leaving_) to_refuse_.emplace_back(pool, leaving.state.get());
}

void Serving::note_removed(const upstream::Pool& before) {
  for (const auto& backend : before.backends()) {
    if (!backend->duty().removed) continue;
    shared_.journal.add(net::EventKind::removed, before.options().name, backend->name(), "removed",
                        "not in the configuration any more; its sessions run on");
  }
}

Serving::Pools Serving::next_pools(const config::Configuration& next) {
  std::vector<std::shared_ptr<upstream::Pool>> pools;
  for (const upstream::PoolOptions& options : next.pools) pools.push_back(next_pool(options));
  for (const auto& before : pools_) {
    const std::shared_ptr<upstream::Pool> after = find(pools, before->options().name);
    if (!after) {
      checkers_.erase(before->options().name);
      removed_pools_.push_back(before);
      refuse_waiters_of(before);
    } else if (after != before) {
      note_removed(*before);
    }
  }
  for (const auto& pool : pools) {
    if (find(pools_, pool->options().name) != pool) check_on(pool);
  }
  return pools;
}

// One that comes back while sessions of it live on is the same again.
std::shared_ptr<proxy::ListenerState> Serving::state_of(const proxy::ListenerOptions& options) {
  const auto before = std::find_if(
      leaving_.begin(), leaving_.end(),
      [&options](const Leaving& leaving) { return leaving.state->name() == options.name; });
  if (before == leaving_.end()) return std::make_shared<proxy::ListenerState>(options, workers_);
  std::shared_ptr<proxy::ListenerState> state = std::move(before->state);
  leaving_.erase(before);
  state->retune(options);
  return state;
}

std::vector<Worker::Change> Serving::take(const config::Configuration& next,
                                          std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  const std::unique_ptr<Rebinding> rebinding = std::move(prepared_);
  Pools pools = next_pools(next);
  std::vector<Worker::Change> changes(workers_);
  for (Worker::Change& change : changes) change.config_generation = generation;
  const auto all_workers = [&changes](const Worker::ListenerChange& like) {
    for (Worker::Change& change : changes) {
      change.listeners.push_back(
          {like.state, like.pool, like.access, {}, like.taken_over, like.closed});
    }
  };

  std::vector<Served> served;
  for (std::size_t i = 0; i < next.listeners.size(); ++i) {
    const proxy::ListenerOptions& options = next.listeners[i];
    Rebinding::Listener& binds = rebinding->listeners()[i];
    const auto before =
        std::find_if(listeners_.begin(), listeners_.end(), [&options](const Served& each) {
          return each.state && each.state->name() == options.name;
        });
    Served& now = served.emplace_back();
    now.pool = find(pools, options.pool);
    now.binds = binds.binds;
    if (before == listeners_.end()) {
      now.state = state_of(options);
    } else {
      now.state = std::move(before->state);
      now.state->retune(options);
    }
    all_workers({now.state, now.pool, options.access, {}, binds.taken_over, binds.closed});
    for (Rebinding::Listener::Opened& opened : binds.opened) {
      net::log(net::LogLevel::info, "listener " + options.name, "listening on {}", opened.text);
      for (std::size_t worker = 0; worker < workers_; ++worker) {
        for (net::ListenSocket& socket : opened.sockets[worker]) {
          changes[worker].listeners.back().opened.push_back({opened.id, std::move(socket)});
        }
      }
    }
  }
  for (Served& before : listeners_) {
    if (!before.state) continue;  // goes on
    leaving_.push_back({before.state, before.pool});
    not_gone_[before.state.get()] += workers_;
    all_workers({before.state, nullptr, {}, {}, {}, {}});
  }
  for (const Bind& bind : rebinding->closed()) closing_.push_back({bind, workers_});
  listeners_ = std::move(served);
  pools_ = std::move(pools);
  return changes;
}

void Serving::after_change() {
  for (const auto& [pool, listener] : std::exchange(to_refuse_, {})) {
    pool->admission().retire(listener);
  }
}

// Nobody comes through it any more: who waits behind it is told, in whichever pool.
void Serving::listener_gone(const proxy::ListenerState& state) {
  const std::lock_guard lock(mutex_);
  if (--not_gone_.at(&state) > 0) return;
  not_gone_.erase(&state);
  const bool leaves = std::any_of(leaving_.begin(), leaving_.end(), [&state](const auto& leaving) {
    return leaving.state.get() == &state;
  });
  if (!leaves) return;  // it has come back meanwhile
  for (const auto& pool : all_pools()) pool->admission().retire(&state);
  net::log(net::LogLevel::info, "listener " + state.name(), "closed; {} sessions run on",
           state.connections());
}

void Serving::forget(const std::set<proxy::AddressId>& lost) {
  if (lost.empty()) return;
  const std::lock_guard lock(mutex_);
  for (Served& served : listeners_) {
    std::erase_if(served.binds, [&lost](const Bind& bind) { return lost.count(bind.id) > 0; });
  }
}

void Serving::address_closed(proxy::AddressId id) {
  const auto found = std::find_if(closing_.begin(), closing_.end(),
                                  [id](const Closing& closing) { return closing.bind.id == id; });
  if (found != closing_.end() && --found->workers == 0) closing_.erase(found);
}

bool Serving::tidy() {
  const std::lock_guard lock(mutex_);
  const core::TimePoint now = shared_.control.refresh_now();
  bool more = false;
  for (const auto& pool : pools_) {
    for (const std::string& backend : pool->state().forget_deserted(now)) {
      net::log(net::LogLevel::info, "pool " + pool->options().name,
               "backend {}: its last session has ended", backend);
      shared_.journal.add(net::EventKind::removed, pool->options().name, backend, "gone",
                          "its last session has ended");
    }
    more = more || !pool->state().removed().empty();
  }
  std::erase_if(removed_pools_, [this](const auto& pool) {
    // Clients may still come by a listener that is closing.
    const bool reachable =
        std::any_of(leaving_.begin(), leaving_.end(), [&](const Leaving& leaving) {
          return not_gone_.count(leaving.state.get()) > 0 && leaving.pool == pool;
        });
    return !reachable && deserted(*pool);
  });
  std::erase_if(leaving_, [this](const Leaving& leaving) {
    return not_gone_.count(leaving.state.get()) == 0 && leaving.state->connections() == 0;
  });
  return more || !removed_pools_.empty() || !leaving_.empty();
}

std::shared_ptr<upstream::Pool> Serving::pool(const std::string& name) const {
  return find(pools_, name);
}

std::vector<net::SocketAddress> Serving::addresses(const std::string& listener) const {
  const std::lock_guard lock(mutex_);
  std::vector<net::SocketAddress> addresses;
  for (const Served& served : listeners_) {
    if (served.state->name() != listener) continue;
    for (const Bind& bind : served.binds) addresses.push_back(bind.address);
  }
  return addresses;
}

std::vector<std::shared_ptr<upstream::Pool>> Serving::all_pools() const {
  std::vector<std::shared_ptr<upstream::Pool>> all = pools_;
  all.insert(all.end(), removed_pools_.begin(), removed_pools_.end());
  return all;
}

std::size_t Serving::listening_descriptors() const {
  std::size_t sum = 0;
  for (const Served& served : listeners_) sum += served.binds.size() * workers_;
  return sum;
}

std::size_t Serving::descriptors() const {
  std::size_t sum = listening_descriptors();
  for (const auto& pool : pools_) {
    if (pool->options().health) sum += pool->size();
  }
  return sum;
}

void Serving::append(admin::Snapshot& snapshot) const {
  const std::lock_guard lock(mutex_);
  for (const Served& served : listeners_) {
    snapshot.listeners.push_back(shown(*served.state, *served.pool));
    for (const Bind& bind : served.binds) {
      snapshot.listeners.back().bind.push_back(bind.address.text());
    }
  }
  for (const Leaving& leaving : leaving_) {
    snapshot.listeners.push_back(shown(*leaving.state, *leaving.pool));
    snapshot.listeners.back().draining = true;
  }
  for (const auto& pool : pools_) snapshot.pools.push_back(pool->snapshot(snapshot.taken));
  for (const auto& pool : removed_pools_) {
    snapshot.pools.push_back(pool->snapshot(snapshot.taken));
    snapshot.pools.back().removed = true;
    for (admin::Snapshot::Backend& backend : snapshot.pools.back().backends) {
      backend.removed = backend.draining = true;
      backend.state = upstream::BackendState::draining;
    }
  }
}

}  // namespace weir::app
