#include "app/operations.h"

#include <fmt/format.h>

#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "weir/net/log.h"

namespace weir::app {
namespace {

constexpr const char* kOperator = "operator";

}  // namespace

std::shared_ptr<upstream::Backend> Operations::find(const std::string& pool,
                                                    const std::string& backend) {
  const std::shared_ptr<upstream::Pool> there = engine_.serving.pool(pool);
  return there ? there->find(backend) : nullptr;
}

void Operations::tell(net::EventKind kind, const std::string& pool, const std::string& backend,
                      const std::string& to, const std::string& cause) {
  net::log(net::LogLevel::info, "pool " + pool, "backend {}: {}: {}", backend, to, cause);
  engine_.journal.add(kind, pool, backend, to, cause);
}

bool Operations::drain(const std::string& pool, const std::string& backend,
                       std::optional<core::Duration> deadline) {
  const std::shared_ptr<upstream::Backend> there = find(pool, backend);
  if (!there) return false;
  forget_drain(*there);
  upstream::Duty duty = there->duty();
  duty.disabled = false;
  duty.draining = true;
  const core::TimePoint now = engine_.control.refresh_now();
  duty.drain_until = deadline ? now + *deadline : core::kNever;
  there->set_duty(duty);
  resume_drain(pool, there);
  ask_elsewhere(Errand::Kind::set_duty, pool, backend, {}, false);
  tell(net::EventKind::drain, pool, backend, "draining",
       fmt::format("{}; {} sessions have {}", kOperator, there->active(),
                   deadline ? core::seconds_text(*deadline) : "no deadline"));
  look_later_();
  return true;
}

void Operations::resume_drain(const std::string& pool,
                              const std::shared_ptr<upstream::Backend>& backend) {
  Drain& begun = drains_.emplace_back();
  begun.pool = pool;
  begun.backend = backend;
  const core::TimePoint deadline = backend->duty().drain_until;
  if (deadline == core::kNever) return;
  begun.deadline = std::make_unique<net::Timer>(
      engine_.control, [this, pool, backend] { deadline_passed(pool, backend); });
  begun.deadline->arm(deadline);
}

void Operations::deadline_passed(const std::string& pool,
                                 const std::shared_ptr<upstream::Backend>& backend) {
  constexpr auto kReason = core::CloseReason::backend_drained;
  std::size_t ended = end_sessions(backend, kReason);
  ended += ask_elsewhere(Errand::Kind::end_sessions, pool, backend->name(), kReason, false).ended;
  if (ended == 0) return;
  tell(net::EventKind::drain, pool, backend->name(), "deadline",
       fmt::format("the deadline has passed: {} sessions are cut off", ended));
}

bool Operations::disable(const std::string& pool, const std::string& backend) {
  const std::shared_ptr<upstream::Backend> there = find(pool, backend);
  if (!there) return false;
  forget_drain(*there);
  upstream::Duty duty;
  duty.disabled = true;
  there->set_duty(duty);
  ask_elsewhere(Errand::Kind::set_duty, pool, backend, {}, false);
  tell(net::EventKind::disable, pool, backend, "disabled",
       fmt::format("{}; {} sessions run on", kOperator, there->active()));
  return true;
}

bool Operations::enable(const std::string& pool, const std::string& backend) {
  const std::shared_ptr<upstream::Backend> there = find(pool, backend);
  if (!there) return false;
  forget_drain(*there);
  there->set_duty({});
  ask_elsewhere(Errand::Kind::set_duty, pool, backend, {}, true);
  tell(net::EventKind::enable, pool, backend, "enabled", kOperator);
  return true;
}

// What changes a circuit's phase has its event from the circuit; what does not has one from here.
bool Operations::order(const std::string& pool, const std::string& backend,
                       admin::CircuitOrder order) {
  const std::shared_ptr<upstream::Backend> there = find(pool, backend);
  if (!there) return false;
  const core::TimePoint now = engine_.control.refresh_now();
  const std::uint64_t epoch = there->circuit().status(now).epoch;
  const char* what = "";
  switch (order) {
    case admin::CircuitOrder::open:
      there->circuit().force_open(now);
      what = "forced_open";
      break;
    case admin::CircuitOrder::close:
      there->circuit().close(now);
      what = "closed";
      break;
    case admin::CircuitOrder::bypass:
      there->circuit().bypass();
      what = "bypassed";
      break;
    case admin::CircuitOrder::automatic:
      there->circuit().automatic(now);
      what = "automatic";
      break;
  }
  if (there->circuit().status(now).epoch == epoch) {
    tell(net::EventKind::circuit, pool, backend, what, kOperator);
  }
  return true;
}

std::vector<proxy::SessionView> Operations::sessions(const proxy::SessionFilter& filter,
                                                     std::size_t most) {
  std::vector<proxy::SessionView> found;
  if (engine_.ended) return found;
  for (auto& views :
       engine_.of_all_workers([&](Worker& worker) { return worker.sessions(filter, most); })) {
    found.insert(found.end(), std::make_move_iterator(views.begin()),
                 std::make_move_iterator(views.end()));
  }
  Errand errand;
  errand.filter = filter;
  errand.most = most;
  const Answer answer = elsewhere_(errand);
  found.insert(found.end(), answer.sessions.begin(), answer.sessions.end());
  return found;
}

std::optional<proxy::SessionView> Operations::session(std::uint64_t id) {
  if (id == 0 || engine_.ended) return std::nullopt;
  Worker& worker = *engine_.workers[Worker::of_session(id, engine_.workers.size())];
  if (const auto view = worker.session(id).get()) return *view;
  Errand errand;
  errand.kind = Errand::Kind::session;
  errand.id = id;
  const Answer answer = elsewhere_(errand);
  return answer.sessions.empty() ? std::nullopt : std::optional(answer.sessions.front());
}

std::size_t Operations::kill(std::uint64_t session) {
  if (session == 0 || engine_.ended) return 0;
  Worker& worker = *engine_.workers[Worker::of_session(session, engine_.workers.size())];
  std::size_t ended = worker.end_session(session, core::CloseReason::killed).get();
  if (ended == 0) {
    Errand errand;
    errand.kind = Errand::Kind::kill_session;
    errand.id = session;
    ended = elsewhere_(errand).ended;
  }
  if (ended > 0) {
    net::log(net::LogLevel::info, "weir", "session {} killed by an operator", session);
    engine_.journal.add(net::EventKind::kill, "", "", std::to_string(session), kOperator);
  }
  return ended;
}

std::size_t Operations::kill(const std::string& pool, const std::string& backend) {
  constexpr auto kReason = core::CloseReason::killed;
  std::size_t ended = end_sessions(pool, backend, kReason);
  ended += ask_elsewhere(Errand::Kind::end_sessions, pool, backend, kReason, false).ended;
  if (ended == 0 && !find(pool, backend)) return 0;  // there is no such backend: nothing to tell
  tell(net::EventKind::kill, pool, backend, "killed",
       fmt::format("{}; {} sessions", kOperator, ended));
  return ended;
}

Answer Operations::ask_elsewhere(Errand::Kind kind, const std::string& pool,
                                 const std::string& backend, core::CloseReason reason,
                                 bool takes_sessions) {
  Errand errand;
  errand.kind = kind;
  errand.filter.pool = pool;
  errand.filter.backend = backend;
  errand.reason = core::name(reason);
  errand.takes_sessions = takes_sessions;
  return elsewhere_(errand);
}

// Of the backends of this name, those that are leaving too.
std::size_t Operations::end_sessions(const std::string& pool, const std::string& backend,
                                     core::CloseReason reason) {
  std::size_t ended = 0;
  for (const auto& each : engine_.serving.all_pools()) {
    if (each->options().name != pool) continue;
    for (const auto& there : each->with_removed()) {
      if (there->name() == backend) ended += end_sessions(there, reason);
    }
  }
  return ended;
}

void Operations::set_duty(const std::string& pool, const std::string& backend,
                          bool takes_sessions) {
  const std::shared_ptr<upstream::Backend> there = find(pool, backend);
  if (!there) return;
  forget_drain(*there);  // its end is the other process's to see to
  upstream::Duty duty;
  duty.disabled = !takes_sessions;
  there->set_duty(duty);
}

std::size_t Operations::end_sessions(const std::shared_ptr<upstream::Backend>& backend,
                                     core::CloseReason reason) {
  if (engine_.ended) return 0;
  const auto counts =
      engine_.of_all_workers([&](Worker& worker) { return worker.end_sessions(backend, reason); });
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

void Operations::forget_drain(const upstream::Backend& backend) {
  drains_.remove_if([&backend](const Drain& drain) { return drain.backend.get() == &backend; });
}

bool Operations::tidy() {
  drains_.remove_if([this](const Drain& drain) {
    if (!drain.backend->deserted() || drain.backend->taken_elsewhere() > 0) return false;
    tell(net::EventKind::drain, drain.pool, drain.backend->name(), "drained",
         "its last session has ended");
    return true;
  });
  return !drains_.empty();
}

}  // namespace weir::app
