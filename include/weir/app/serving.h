#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weir/admin/snapshot.h"
#include "weir/app/binds.h"
#include "weir/app/worker.h"
#include "weir/config/configuration.h"
#include "weir/config/plan.h"
#include "weir/net/journal.h"
#include "weir/net/loop.h"
#include "weir/net/resolver.h"
#include "weir/net/socket_address.h"
#include "weir/proxy/listener_state.h"
#include "weir/upstream/health_checker.h"
#include "weir/upstream/pool.h"

namespace weir::app {

// The listeners and the pools: those in force, and those that are gone from the configuration and
// have sessions still. It takes them from one configuration to the next in three steps: prepare()
// does all that can fail, take() makes the change, which is then applied by the workers, and
// after_change() ends what nobody comes to any more. Control thread; snapshots on any.
class Serving {
 public:
  struct Shared {
    net::Loop& control;
    net::Resolver& resolver;
    net::Journal& journal;
  };

  Serving(const Shared& shared, std::size_t workers);
  ~Serving();

  // Opens the addresses that are new. Answers the first failure; then nothing has changed.
  [[nodiscard]] std::optional<BindFailure> prepare(const config::Configuration& next);
  // The same, with sockets that another process has handed over; those not wanted stay there.
  [[nodiscard]] std::optional<BindFailure> prepare(const config::Configuration& next,
                                                   std::vector<Rebinding::Inherited>& inherited,
                                                   Listening listening);
  // Closes them again.
  void give_up();
  // These addresses could not be had after all: a reload may try again.
  void forget(const std::set<proxy::AddressId>& lost);
  // Of what a plan to `next` calls added or reset, take() makes the same again what lives on still.
  void mark_resumed(const config::Configuration& next, config::Plan& plan) const;
  // What each worker has to change. The pools are those of `next` from here on.
  std::vector<Worker::Change> take(const config::Configuration& next, std::uint64_t generation);
  // All workers have changed.
  void after_change();
  // One worker has done with a listener that is gone from the configuration.
  void listener_gone(const proxy::ListenerState& state);
  // One worker has closed an address that nobody wants any more.
  void address_closed(proxy::AddressId id);
  // Forgets what is gone and deserted. True while there is more to come.
  bool tidy();

  const std::vector<std::shared_ptr<upstream::Pool>>& pools() const { return pools_; }
  // Null when there is none.
  std::shared_ptr<upstream::Pool> pool(const std::string& name) const;
  std::vector<net::SocketAddress> addresses(const std::string& listener) const;
  // Those that serve, and those that are gone and have sessions still.
  std::vector<std::shared_ptr<upstream::Pool>> all_pools() const;
  std::size_t listening_descriptors() const;
  // The same, and those that active checks use.
  std::size_t descriptors() const;

  void append(admin::Snapshot& snapshot) const;  // any thread

 private:
  using Pools = std::vector<std::shared_ptr<upstream::Pool>>;

  // Null where none has this name.
  static std::shared_ptr<upstream::Pool> find(const Pools& pools, const std::string& name);
  struct Served {
    std::string pool_name;
    std::shared_ptr<proxy::ListenerState> state;
    std::shared_ptr<upstream::Pool> pool;
    std::vector<Bind> binds;
  };
  struct Leaving {
    std::shared_ptr<proxy::ListenerState> state;
    std::shared_ptr<upstream::Pool> pool;
  };
  struct Closing;

  Pools next_pools(const config::Configuration& next);
  std::shared_ptr<upstream::Pool> next_pool(const upstream::PoolOptions& options);
  std::shared_ptr<proxy::ListenerState> state_of(const proxy::ListenerOptions& options);
  void check_on(const std::shared_ptr<upstream::Pool>& pool);
  void refuse_waiters_of(const std::shared_ptr<upstream::Pool>& pool);
  void note_removed(const upstream::Pool& before);

  const Shared shared_;
  const std::size_t workers_;
  proxy::AddressId last_address_ = 0;
  std::unique_ptr<Rebinding> prepared_;
  // Addresses that some workers have not closed yet: their ports are still ours.
  std::vector<Closing> closing_;
  // How often workers have yet to tell that a listener is gone; one that comes back and goes again
  // is told of twice by each.
  std::map<const proxy::ListenerState*, std::size_t> not_gone_;
  // Refused once all workers have changed: who waits for a pool that is gone.
  std::vector<std::pair<std::shared_ptr<upstream::Pool>, const void*>> to_refuse_;

  mutable std::mutex mutex_;  // guards what follows against snapshots
  std::vector<Served> listeners_;
  std::vector<Leaving> leaving_;
  Pools pools_;
  Pools removed_pools_;
  // By pool. At work for as long as the control loop runs: in a drain, too, sessions go by them.
  std::map<std::string, std::unique_ptr<upstream::HealthChecker>> checkers_;
};

}  // namespace weir::app
