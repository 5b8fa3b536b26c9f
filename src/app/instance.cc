#include "weir/app/instance.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <random>
#include <system_error>
#include <utility>

#include "weir/app/worker.h"
#include "weir/net/descriptor_budget.h"
#include "weir/net/line_log.h"
#include "weir/net/log.h"
#include "weir/net/loop.h"
#include "weir/net/resolver.h"
#include "weir/net/signals.h"
#include "weir/net/steady_clock.h"
#include "weir/net/timer.h"
#include "weir/net/wall_clock.h"
#include "weir/proxy/listener_state.h"
#include "weir/upstream/health_checker.h"
#include "weir/upstream/pool.h"

namespace weir::app {
namespace {

using net::LogLevel;

// Descriptors kept free of sessions: for name look-ups, log files, and the admin side. Active
// checks have one more for each backend.
constexpr std::size_t kReservedDescriptors = 32;

std::size_t worker_count(const AppOptions& options) {
  if (options.workers > 0) return static_cast<std::size_t>(options.workers);
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  return static_cast<std::size_t>(std::max(CPU_COUNT(&usable), 1));
}

std::size_t checked_backends(const std::vector<upstream::PoolOptions>& pools) {
  std::size_t sum = 0;
  for (const upstream::PoolOptions& pool : pools) {
    if (pool.health) sum += pool.backends.size();
  }
  return sum;
}

bool binds_all_ipv4(const proxy::ListenerOptions& listener, std::uint16_t port) {
  for (const core::Endpoint& bind : listener.bind) {
    if (bind.kind == core::Endpoint::Kind::ipv4 && bind.host == "0.0.0.0" && bind.port == port) {
      return true;
    }
  }
  return false;
}

template <typename Counts>
void add(Counts& sum, const auto& counters) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counters[i].value();
}

}  // namespace

class Instance::Parts {
 public:
  explicit Parts(const config::Configuration& configuration);
  ~Parts();

  void handle_signals();
  int run();
  void drain();
  void post_drain() {
    control_.post([this] { drain(); });
  }
  admin::Snapshot snapshot() const;
  std::vector<net::SocketAddress> addresses(const std::string& listener) const;

 private:
  void stop_workers();
  void make_pools();
  void make_listeners();
  void start_checks();
  std::vector<std::vector<Worker::Listening>> open_sockets();
  void open_binds(proxy::ListenerState& listener,
                  std::vector<std::vector<Worker::Listening>>& by_worker);
  void on_signal(int number);
  void worker_drained();

  const config::Configuration configuration_;
  const std::size_t worker_count_;
  net::Loop control_;
  std::vector<std::unique_ptr<Worker>> workers_;
  net::Resolver resolver_;  // answers to workers' loops, so it goes before them
  std::unique_ptr<net::LineLog> access_log_;
  std::vector<std::unique_ptr<upstream::Pool>> pools_;
  // At work for as long as the control loop runs: in a drain, too, sessions dial and go by them.
  std::vector<std::unique_ptr<upstream::HealthChecker>> checkers_;
  std::vector<std::unique_ptr<proxy::ListenerState>> listeners_;
  std::vector<std::vector<net::SocketAddress>> addresses_;  // by listener
  std::unique_ptr<net::DescriptorBudget> descriptors_;

  std::unique_ptr<net::Signals> signals_;
  net::Timer deadline_;
  bool draining_ = false;
  std::size_t undrained_ = 0;
};

Instance::Parts::Parts(const config::Configuration& configuration)
    : configuration_(configuration),
      worker_count_(worker_count(configuration.app)),
      resolver_(control_, {}),
      deadline_(control_, [this] {
        net::log(LogLevel::warning, "weir",
                 "the shutdown deadline has passed: {} sessions are cut off", snapshot().sessions);
        for (const auto& worker : workers_) worker->cut(core::CloseReason::shutdown, true);
      }) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::size_t limit = net::raise_descriptor_limit();
  try {
    access_log_ = std::make_unique<net::LineLog>(configuration_.app.access_log, worker_count_);
  } catch (const std::system_error& error) {
    throw StartError("access log: cannot open " + configuration_.app.access_log + ": " +
                     error.code().message());
  }
  make_pools();
  make_listeners();
  for (std::size_t index = 0; index < worker_count_; ++index) {
    workers_.push_back(std::make_unique<Worker>(index, worker_count_));
  }
  auto sockets = open_sockets();

  const std::size_t kept =
      net::open_descriptors() + kReservedDescriptors + checked_backends(configuration_.pools);
  const std::size_t room = limit > kept ? limit - kept : 0;
  if (room < net::DescriptorShare::kPerSession) {
    throw StartError("the descriptor limit of " + std::to_string(limit) +
                     " leaves no room for a session (raise `ulimit -Hn`)");
  }
  descriptors_ = std::make_unique<net::DescriptorBudget>(room);
  net::log(LogLevel::info, "weir", "{} workers; {} descriptors allow {} sessions at once",
           worker_count_, limit, room / net::DescriptorShare::kPerSession);

  const Worker::Shared shared{resolver_, *descriptors_, *access_log_};
  try {
    for (std::size_t index = 0; index < worker_count_; ++index) {
      workers_[index]->start(shared, std::move(sockets[index]));
    }
  } catch (const std::exception& error) {
    stop_workers();
    throw StartError(std::string("cannot start the workers: ") + error.what());
  }
  start_checks();
}

Instance::Parts::~Parts() { stop_workers(); }

void Instance::Parts::stop_workers() {
  for (const auto& worker : workers_) worker->stop();
}

void Instance::Parts::make_pools() {
  for (const upstream::PoolOptions& options : configuration_.pools) {
    pools_.push_back(std::make_unique<upstream::Pool>(options, worker_count_));
  }
}

void Instance::Parts::start_checks() {
  for (const auto& pool : pools_) {
    if (!pool->options().health) continue;
    checkers_.push_back(std::make_unique<upstream::HealthChecker>(control_, resolver_, *pool,
                                                                  std::random_device{}()));
  }
}

void Instance::Parts::make_listeners() {
  for (const proxy::ListenerOptions& options : configuration_.listeners) {
    for (const auto& pool : pools_) {
      if (pool->options().name != options.pool) continue;
      listeners_.push_back(std::make_unique<proxy::ListenerState>(options, *pool, worker_count_));
    }
  }
  addresses_.resize(listeners_.size());
}

std::vector<std::vector<Worker::Listening>> Instance::Parts::open_sockets() {
  std::vector<std::vector<Worker::Listening>> by_worker(worker_count_);
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    for (auto& listening : by_worker) listening.push_back({listeners_[i].get(), {}});
    open_binds(*listeners_[i], by_worker);
    for (const net::ListenSocket& socket : by_worker[0].back().sockets) {
      addresses_[i].push_back(socket.address());
    }
  }
  return by_worker;
}

void Instance::Parts::open_binds(proxy::ListenerState& listener,
                                 std::vector<std::vector<Worker::Listening>>& by_worker) {
  for (core::Endpoint bind : listener.options().bind) {
    net::ListenOptions options;
    options.ipv6_only =
        bind.kind == core::Endpoint::Kind::ipv6 && binds_all_ipv4(listener.options(), bind.port);
    std::string where = bind.text();
    for (auto& listening : by_worker) {
      auto& sockets = listening.back().sockets;
      const auto& first = by_worker[0].back().sockets;
      const bool claimed = &listening != &by_worker[0];
      if (claimed && first.back().is_unix()) {
        sockets.push_back(first.back().share());
        continue;
      }
      options.port = claimed ? net::Port::join : net::Port::claim;
      std::string error;
      net::ListenSocket socket = net::ListenSocket::open(bind, options, error);
      if (!socket) {
        throw StartError("listener " + listener.options().name + ": " + where + ": " + error);
      }
      if (!claimed) {
        bind.port = socket.address().port();  // chosen by the kernel where it was 0
        net::log(LogLevel::info, "listener " + listener.options().name, "listening on {}",
                 bind.text());
      }
      sockets.push_back(std::move(socket));
    }
  }
}

void Instance::Parts::handle_signals() {
  signals_ =
      std::make_unique<net::Signals>(control_, kSignals, [this](int number) { on_signal(number); });
}

void Instance::Parts::on_signal(int number) {
  switch (number) {
    case SIGUSR1:
      access_log_->reopen();
      net::log(LogLevel::info, "weir", "log files reopened");
      return;
    case SIGHUP:
    case SIGUSR2:
      net::log(LogLevel::warning, "weir", "{} ignored: this version cannot {}",
               number == SIGHUP ? "SIGHUP" : "SIGUSR2",
               number == SIGHUP ? "reload" : "upgrade in place");
      return;
    default:
      break;
  }
  if (draining_) {
    net::log(LogLevel::warning, "weir", "second signal: exiting at once");
    access_log_->finish();
    net::stop_log();
    std::_Exit(1);
  }
  drain();
}

int Instance::Parts::run() {
  control_.run();
  return 0;
}

void Instance::Parts::drain() {
  if (draining_) return;
  draining_ = true;
  const core::Duration bound = configuration_.app.shutdown_deadline;
  net::log(LogLevel::info, "weir", "draining: {} sessions have {}", snapshot().sessions,
           bound == core::Duration::zero()
               ? std::string("no deadline")
               : fmt::format("{:g} s", std::chrono::duration<double>(bound).count()));
  control_.refresh_now();
  deadline_.arm(core::deadline(control_.now(), bound));
  // Nobody waits for a turn that will not come.
  for (const auto& pool : pools_) pool->admission().shut_down();
  undrained_ = workers_.size();
  for (const auto& worker : workers_) {
    worker->drain([this] { control_.post([this] { worker_drained(); }); });
  }
}

void Instance::Parts::worker_drained() {
  if (--undrained_ > 0) return;
  deadline_.cancel();
  for (const auto& worker : workers_) worker->join();
  access_log_->finish();
  net::log(LogLevel::info, "weir", "drained");
  control_.stop();
}

admin::Snapshot Instance::Parts::snapshot() const {
  admin::Snapshot result;
  result.taken = net::steady_now();
  result.taken_at = net::wall_now();
  for (const auto& worker : workers_) result.sessions += worker->sessions();
  for (const auto& state : listeners_) {
    admin::Snapshot::Listener& listener = result.listeners.emplace_back();
    listener.name = state->options().name;
    listener.connections = state->connections();
    for (std::size_t worker = 0; worker < worker_count_; ++worker) {
      const proxy::ListenerTotals& totals = std::as_const(*state).totals(worker);
      listener.accepted += totals.accepted.value();
      listener.bytes_in += totals.bytes_in.value();
      listener.bytes_out += totals.bytes_out.value();
      add(listener.accept_errors, totals.accept_errors);
      add(listener.closed, totals.closed);
    }
  }
  for (const auto& pool : pools_) result.pools.push_back(pool->snapshot(result.taken));
  result.access_log_dropped = access_log_->dropped();
  result.open_fds = net::open_descriptors();
  return result;
}

std::vector<net::SocketAddress> Instance::Parts::addresses(const std::string& listener) const {
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (listeners_[i]->options().name == listener) return addresses_[i];
  }
  return {};
}

Instance::Instance(const config::Configuration& configuration)
    : parts_(std::make_unique<Parts>(configuration)) {}
Instance::~Instance() = default;
void Instance::handle_signals() { parts_->handle_signals(); }
int Instance::run() { return parts_->run(); }
void Instance::drain() { parts_->post_drain(); }
admin::Snapshot Instance::snapshot() const { return parts_->snapshot(); }
std::vector<net::SocketAddress> Instance::addresses(const std::string& listener) const {
  return parts_->addresses(listener);
}

}  // namespace weir::app
