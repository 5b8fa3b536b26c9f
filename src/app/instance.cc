#include "weir/app/instance.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <future>
#include <system_error>
#include <utility>

#include "app/instance_parts.h"
#include "weir/app/binds.h"
#include "weir/net/log.h"
#include "weir/net/steady_clock.h"
#include "weir/net/wall_clock.h"

namespace weir::app {
namespace {

using net::LogLevel;

// Descriptors kept free of sessions: for name look-ups, log files, and the admin side. Listening
// sockets have their own, and so have active checks.
constexpr std::size_t kReservedDescriptors = 32;

// How soon what has ended by itself is noticed: drains, backends that were removed. Only while
// there is something to notice.
constexpr std::chrono::milliseconds kTidyInterval(100);

std::size_t worker_count(const AppOptions& options) {
  if (options.workers > 0) return static_cast<std::size_t>(options.workers);
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return 1;
  return static_cast<std::size_t>(std::max(CPU_COUNT(&usable), 1));
}

std::unique_ptr<net::LineLog> open_access_log(const std::string& target, std::size_t workers) {
  try {
    return std::make_unique<net::LineLog>(target, workers);
  } catch (const std::system_error& error) {
    throw StartError("access log: cannot open " + target + ": " + error.code().message());
  }
}

}  // namespace

Instance::Parts::Parts(const config::Configuration& configuration, const std::string& file)
    : in_force_(configuration),
      worker_count_(worker_count(configuration.app)),
      descriptor_limit_(net::raise_descriptor_limit()),
      resolver_(control_, {}),
      access_log_(open_access_log(configuration.app.access_log, worker_count_)),
      serving_({control_, resolver_, journal_}, worker_count_),
      engine_{control_, workers_, serving_, journal_},
      operations_(engine_),
      deadline_(control_,
                [this] {
                  net::log(LogLevel::warning, "weir",
                           "the shutdown deadline has passed: {} sessions are cut off",
                           snapshot().sessions);
                  for (const auto& worker : workers_) {
                    worker->cut(core::CloseReason::shutdown, true);
                  }
                }),
      tidy_(control_, [this] { tidy(); }) {
  std::signal(SIGPIPE, SIG_IGN);
  for (std::size_t index = 0; index < worker_count_; ++index) {
    workers_.push_back(std::make_unique<Worker>(index, worker_count_));
  }
  bind_first();
  own_descriptors_ = net::open_descriptors() - serving_.listening_descriptors();
  size_descriptors();
  start_workers();
  reloading_ = std::make_unique<Reloading>(
      engine_,
      Reloading::Process{*access_log_, [this](const auto& next) { adopt(next); },
                         [this](const auto& next) { return doors_->prepare(next.app); }},
      in_force_, file);
  room_ = std::make_unique<ControlRoom>(
      engine_, operations_, *reloading_,
      ControlRoom::Process{in_force_, control_.now(), [this] { return snapshot(); },
                           [this] { return draining_; }, [this] { drain("operator"); }});
  doors_ = std::make_unique<Doors>(control_, *room_, Doors::most_connections(descriptor_limit_));
  if (const auto failure = doors_->open(in_force_.app)) {
    stop_workers();
    throw StartError(*failure);
  }
  tidy_.arm(control_.refresh_now() + kTidyInterval);
}

Instance::Parts::~Parts() { stop_workers(); }

void Instance::Parts::bind_first() {
  if (const auto failure = serving_.prepare(in_force_)) {
    throw StartError("listener " + in_force_.listeners[failure->listener].name + ": " +
                     failure->message);
  }
  first_changes_ = serving_.take(in_force_, 1);
}

void Instance::Parts::size_descriptors() {
  const std::size_t kept =
      own_descriptors_ + kReservedDescriptors + serving_.descriptors() +
      Doors::descriptors(in_force_.app, Doors::most_connections(descriptor_limit_));
  const std::size_t room = descriptor_limit_ > kept ? descriptor_limit_ - kept : 0;
  if (descriptors_) return descriptors_->set_capacity(room);
  if (room < net::DescriptorShare::kPerSession) {
    throw StartError("the descriptor limit of " + std::to_string(descriptor_limit_) +
                     " leaves no room for a session (raise `ulimit -Hn`)");
  }
  descriptors_ = std::make_unique<net::DescriptorBudget>(room);
  net::log(LogLevel::info, "weir", "{} workers; {} descriptors allow {} sessions at once",
           worker_count_, descriptor_limit_, room / net::DescriptorShare::kPerSession);
}

void Instance::Parts::start_workers() {
  const Worker::Shared shared{resolver_, *descriptors_, *access_log_,
                              [this](const proxy::ListenerState& state) {
                                control_.post([this, &state] { serving_.listener_gone(state); });
                              }};
  try {
    for (std::size_t index = 0; index < worker_count_; ++index) {
      workers_[index]->start(shared, std::move(first_changes_[index]));
    }
  } catch (const std::exception& error) {
    stop_workers();
    throw StartError(std::string("cannot start the workers: ") + error.what());
  }
}

void Instance::Parts::stop_workers() {
  engine_.ended = true;
  for (const auto& worker : workers_) worker->stop();
}

void Instance::Parts::adopt(const config::Configuration& configuration) {
  net::set_log(configuration.app.log);
  doors_->adopt();
  size_descriptors();
  tidy_.arm(control_.refresh_now() + kTidyInterval);
}

void Instance::Parts::tidy() {
  const bool drains = operations_.tidy();
  if (serving_.tidy() || drains) tidy_.arm(control_.refresh_now() + kTidyInterval);
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
      reloading_->reload(std::nullopt, "SIGHUP");
      return;
    case SIGUSR2:
      net::log(LogLevel::warning, "weir", "SIGUSR2 ignored: this version cannot upgrade in place");
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
  drain(number == SIGINT ? "SIGINT" : "SIGTERM");
}

int Instance::Parts::run() {
  control_.run();
  return 0;
}

void Instance::Parts::control(const std::function<void(admin::Control&)>& work) {
  std::promise<void> done;
  control_.post([&] {
    work(*room_);
    done.set_value();
  });
  done.get_future().get();
}

admin::Reload Instance::Parts::reload(config::LoadResult loaded) {
  admin::Reload reload;
  control([&](admin::Control&) { reload = reloading_->reload(std::move(loaded), "test"); });
  return reload;
}

void Instance::Parts::post_drain() {
  control_.post([this] { drain("test"); });
}

void Instance::Parts::drain(const std::string& cause) {
  if (draining_) return;
  draining_ = true;
  const core::Duration bound = in_force_.app.shutdown_deadline;
  const std::string left =
      fmt::format("{} sessions have {}", snapshot().sessions,
                  bound == core::Duration::zero()
                      ? std::string("no deadline")
                      : fmt::format("{:g} s", std::chrono::duration<double>(bound).count()));
  net::log(LogLevel::info, "weir", "draining: {}", left);
  journal_.add(net::EventKind::shutdown, "", "", "draining", cause + "; " + left);
  control_.refresh_now();
  deadline_.arm(core::deadline(control_.now(), bound));
  // Nobody waits for a turn that will not come.
  for (const auto& pool : serving_.all_pools()) pool->admission().shut_down();
  undrained_ = workers_.size();
  for (const auto& worker : workers_) {
    worker->drain([this] { control_.post([this] { worker_drained(); }); });
  }
}

void Instance::Parts::worker_drained() {
  if (--undrained_ > 0) return;
  deadline_.cancel();
  engine_.ended = true;
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
  serving_.append(result);
  result.access_log_dropped = access_log_->dropped();
  result.open_fds = net::open_descriptors();
  return result;
}

Instance::Instance(const config::Configuration& configuration, const std::string& file)
    : parts_(std::make_unique<Parts>(configuration, file)) {}
Instance::~Instance() = default;
void Instance::handle_signals() { parts_->handle_signals(); }
int Instance::run() { return parts_->run(); }
void Instance::drain() { parts_->post_drain(); }
void Instance::control(const std::function<void(admin::Control&)>& work) { parts_->control(work); }
admin::Reload Instance::reload(config::LoadResult loaded) {
  return parts_->reload(std::move(loaded));
}
admin::Snapshot Instance::snapshot() const { return parts_->snapshot(); }
std::vector<net::SocketAddress> Instance::addresses(const std::string& listener) const {
  return parts_->addresses(listener);
}

}  // namespace weir::app
