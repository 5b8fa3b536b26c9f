#include "weir/app/instance.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <future>
#include <system_error>
#include <utility>

#include "app/fresh_sockets.h"
#include "app/instance_parts.h"
#include "app/service_manager.h"
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

Instance::Parts::Parts(const config::Configuration& configuration, const Origin& origin)
    : in_force_(configuration),
      worker_count_(worker_count(configuration.app)),
      descriptor_limit_(net::raise_descriptor_limit()),
      resolver_(control_, {}),
      access_log_(open_access_log(configuration.app.access_log, worker_count_)),
      serving_({control_, resolver_, journal_}, worker_count_),
      engine_{control_, workers_, serving_, journal_},
      predecessors_(control_, serving_, journal_),
      operations_(
          engine_, [this](const Errand& errand) { return predecessors_.ask(errand); },
          [this] { tidy_soon(); }),
      deadline_(control_,
                [this] {
                  net::log(LogLevel::warning, "weir",
                           "the shutdown deadline has passed: {} sessions are cut off",
                           own_snapshot().sessions);
                  for (const auto& worker : workers_) {
                    worker->cut(core::CloseReason::shutdown, true);
                  }
                }),
      tidy_(control_, [this] { tidy(); }) {
  std::signal(SIGPIPE, SIG_IGN);
  if (origin.inheritance != nullptr) inherited_ = std::move(origin.inheritance->sockets());
  for (std::size_t index = 0; index < worker_count_; ++index) {
    workers_.push_back(std::make_unique<Worker>(index, worker_count_));
  }
  const bool upgrade = origin.inheritance != nullptr && origin.inheritance->is_upgrade();
  const Listening listening = upgrade ? Listening::later : Listening::at_once;
  bind_first(listening);
  own_descriptors_ = net::open_descriptors() - serving_.listening_descriptors();
  size_descriptors();
  make_desks(origin);
  open_doors(listening);
  std::uint64_t last_session = 0;
  if (upgrade) {
    origin.inheritance->sockets() = std::move(inherited_);
    const State state = origin.inheritance->take_over();
    inherited_ = std::move(origin.inheritance->sockets());  // those that are left
    restore(state);
    const std::uint64_t each = worker_count_;
    last_session = (state.last_session + each - 1) / each * each;
  }
  for (const Rebinding::Inherited& each : inherited_) {
    if (upgrade) break;  // the process before drains it
    net::log(LogLevel::warning, "weir", "a socket was passed on that no listener binds: {}",
             each.socket.address().text());
  }
  inherited_.clear();
  if (upgrade) predecessors_.add(origin.inheritance->take_draining());
  FreshSockets fresh;
  if (upgrade) fresh = FreshSockets::take(first_changes_);
  start_workers(last_session, upgrade ? Worker::Begin::held : Worker::Begin::accepting);
  if (upgrade) {
    begin_serving(*origin.inheritance, std::move(fresh));
    if (origin.inheritance->owns_paths()) {
      workers_.front()->take_paths().get();
      doors_->take_paths(in_force_.app);
    }
    try {
      predecessors_.watch_newest(origin.inheritance->take_channel());
    } catch (const std::exception& error) {  // its places stay counted
      net::log(LogLevel::error, "upgrade", "the process before is not heard: {}", error.what());
    }
    const std::string what =
        fmt::format("process {} took over, generation {}", ::getpid(), reloading_->generation());
    net::log(LogLevel::info, "upgrade", "{}", what);
    journal_.add(net::EventKind::upgrade, "", "", "done", what);
  }
  service_manager::ready();
  tidy_soon();
}

// Up to the word that we serve the process before goes on if we end, and then nobody may wait for
// us: not as one that we have accepted, nor in a queue that only we have. From that word on it
// closes its sockets, and whoever waits in those waits for us. So the new ones listen after it: if
// we end in between, nobody serves who could have been lost to.
void Instance::Parts::begin_serving(Inheritance& inheritance, FreshSockets fresh) {
  inheritance.serves();
  engine_.of_all_workers([](Worker& worker) { return worker.go_on(); });
  serving_.forget(fresh.listen());
  for (std::size_t index = 0; index < worker_count_; ++index) {
    try {
      workers_[index]->apply(std::move(fresh.changes[index])).get();
    } catch (const std::exception& error) {
      net::log(LogLevel::error, "weir", "a new socket is not served: {}", error.what());
    }
  }
  doors_->listen();
}

void Instance::Parts::make_desks(const Origin& origin) {
  reloading_ = std::make_unique<Reloading>(
      engine_,
      Reloading::Process{*access_log_, [this](const auto& next) { adopt(next); },
                         [this](const auto& next) { return doors_->prepare(next.app); },
                         [this]() -> std::string {
                           if (engine_.draining)
                             return "weir is shutting down: nothing is changed now";
                           return succession_->under_way()
                                      ? "an upgrade is under way: ask when it is over"
                                      : "";
                         }},
      in_force_, origin.file);
  room_ = std::make_unique<ControlRoom>(
      engine_, operations_, *reloading_,
      ControlRoom::Process{in_force_, control_.now(), [this] { return snapshot(); },
                           [this] { return predecessors_.sessions(); },
                           [this] { return engine_.draining; }, [this] { drain("operator"); }});
  succession_ = std::make_unique<Succession>(
      engine_,
      Succession::Process{origin.program,
                          origin.inheritance == nullptr || origin.inheritance->owns_paths(),
                          operations_, predecessors_, [this]() -> Doors& { return *doors_; },
                          [this] { return reloading_->generation(); },
                          [this] {
                            admin::Snapshot result = own_snapshot();
                            predecessors_.append_past(result);
                            return result;
                          },
                          [this] { begin_drain("upgrade"); }, [this] { reload_file(); }});
}

void Instance::Parts::open_doors(Listening listening) {
  doors_ = std::make_unique<Doors>(control_, *room_, Doors::most_connections(descriptor_limit_));
  if (const auto failure = doors_->open(in_force_.app, inherited_, listening))
    throw StartError(*failure);
}

// What goes on of the process before this one.
void Instance::Parts::restore(const State& state) {
  reloading_->set_generation(state.generation + 1);
  for (Worker::Change& change : first_changes_) change.config_generation = state.generation + 1;
  journal_.restore(state.events);
  const core::TimePoint now = control_.refresh_now();
  for (const HandedBackend& handed : state.backends) {
    const auto pool = serving_.pool(handed.pool);
    const auto backend = pool ? pool->find(handed.name) : nullptr;
    if (!backend || backend->address_text() != handed.address) continue;
    backend->set_duty(handed.duty);
    if (handed.duty.draining) operations_.resume_drain(handed.pool, backend);
    backend->circuit().restore(handed.circuit, now);
    if (handed.unhealthy && backend->health() != nullptr) backend->health()->restore_unhealthy();
  }
}

Instance::Parts::~Parts() { stop_workers(); }

void Instance::Parts::bind_first(Listening listening) {
  if (const auto failure = serving_.prepare(in_force_, inherited_, listening)) {
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
  if (descriptors_ && room < net::DescriptorShare::kPerSession) {
    net::log(LogLevel::error, "weir", "the descriptor limit of {} leaves no room for a session",
             descriptor_limit_);
  }
  if (descriptors_) return descriptors_->set_capacity(room);
  if (room < net::DescriptorShare::kPerSession) {
    throw StartError("the descriptor limit of " + std::to_string(descriptor_limit_) +
                     " leaves no room for a session (raise `ulimit -Hn`)");
  }
  descriptors_ = std::make_unique<net::DescriptorBudget>(room);
  net::log(LogLevel::info, "weir", "{} workers; {} descriptors allow {} sessions at once",
           worker_count_, descriptor_limit_, room / net::DescriptorShare::kPerSession);
}

void Instance::Parts::start_workers(std::uint64_t last_session, Worker::Begin begin) {
  const Worker::Shared shared{
      resolver_, *descriptors_, *access_log_,
      [this](const proxy::ListenerState& state) {
        control_.post([this, &state] { serving_.listener_gone(state); });
      },
      [this](proxy::AddressId id) { control_.post([this, id] { serving_.address_closed(id); }); }};
  try {
    for (std::size_t index = 0; index < worker_count_; ++index) {
      workers_[index]->start(shared, std::move(first_changes_[index]), last_session, begin);
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
  predecessors_.apply();
  tidy_soon();
}

void Instance::Parts::tidy_soon() { tidy_.arm(control_.refresh_now() + kTidyInterval); }

void Instance::Parts::tidy() {
  const bool drains = operations_.tidy();
  if (serving_.tidy() || drains) tidy_soon();
}

void Instance::Parts::handle_signals() {
  signals_ =
      std::make_unique<net::Signals>(control_, kSignals, [this](int number) { on_signal(number); });
}

void Instance::Parts::reload_file() {
  service_manager::reloading();
  reloading_->reload(std::nullopt, "SIGHUP");
  service_manager::ready();
}

void Instance::Parts::on_signal(int number) {
  switch (number) {
    case SIGUSR1:
      access_log_->reopen();
      net::log(LogLevel::info, "weir", "log files reopened");
      return;
    case SIGHUP:
      if (succession_->over()) return;  // that is the new process's to do
      if (succession_->under_way()) return succession_->reload_afterwards();
      return reload_file();
    case SIGUSR2:
      return succession_->begin();
    default:
      break;
  }
  if (std::exchange(told_to_end_, true)) {
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

admin::Reload Instance::Parts::plan(const config::LoadResult& loaded) {
  admin::Reload plan;
  control([&](admin::Control&) { plan = reloading_->plan(loaded); });
  return plan;
}

void Instance::Parts::post_drain() {
  control_.post([this] { drain("test"); });
}

void Instance::Parts::drain(const std::string& cause) {
  // Nobody waits for a turn that will not come.
  for (const auto& pool : serving_.all_pools()) pool->admission().shut_down();
  if (engine_.draining) return;
  succession_->give_up();
  if (engine_.draining) return;  // it was too late for that
  service_manager::stopping();
  begin_drain(cause);
}

// After an upgrade those who wait wait on: they were here first, and the new process knows it.
void Instance::Parts::begin_drain(const std::string& cause) {
  if (std::exchange(engine_.draining, true)) return;
  const core::Duration bound = in_force_.app.shutdown_deadline;
  const std::string left =
      fmt::format("{} sessions have {}", own_snapshot().sessions,
                  bound == core::Duration::zero() ? "no deadline" : core::seconds_text(bound));
  net::log(LogLevel::info, "weir", "draining: {}", left);
  journal_.add(net::EventKind::shutdown, "", "", "draining", cause + "; " + left);
  control_.refresh_now();
  deadline_.arm(core::deadline(control_.now(), bound));
  undrained_ = workers_.size();
  engine_.of_all_workers([this](Worker& worker) {
    return worker.drain([this] { control_.post([this] { worker_drained(); }); });
  });
}

void Instance::Parts::worker_drained() {
  if (--undrained_ > 0) return;
  deadline_.cancel();
  engine_.ended = true;
  for (const auto& worker : workers_) worker->join();
  succession_->last_report();
  access_log_->finish();
  net::log(LogLevel::info, "weir", "drained");
  control_.stop();
}

admin::Snapshot Instance::Parts::snapshot() const {
  admin::Snapshot result = own_snapshot();
  predecessors_.append(result);
  return result;
}

admin::Snapshot Instance::Parts::own_snapshot() const {
  admin::Snapshot result;
  result.taken = net::steady_now();
  result.taken_at = net::wall_now();
  for (const auto& worker : workers_) result.sessions += worker->sessions();
  serving_.append(result);
  result.access_log_dropped = access_log_->dropped();
  result.open_fds = net::open_descriptors();
  return result;
}

Instance::Instance(const config::Configuration& configuration, const Origin& origin)
    : parts_(std::make_unique<Parts>(configuration, origin)) {}
Instance::~Instance() = default;
void Instance::handle_signals() { parts_->handle_signals(); }
int Instance::run() { return parts_->run(); }
void Instance::drain() { parts_->post_drain(); }
void Instance::control(const std::function<void(admin::Control&)>& work) { parts_->control(work); }
admin::Reload Instance::reload(config::LoadResult loaded) {
  return parts_->reload(std::move(loaded));
}
admin::Reload Instance::plan(const config::LoadResult& loaded) { return parts_->plan(loaded); }
admin::Snapshot Instance::snapshot() const { return parts_->snapshot(); }
std::vector<net::SocketAddress> Instance::addresses(const std::string& listener) const {
  return parts_->addresses(listener);
}

}  // namespace weir::app
