#include "tests/core/simulation.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::core {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLength = 20s;  // how long clients arrive and backends change their minds

double ms(TimePoint time) {
  return std::chrono::duration<double, std::milli>(time.time_since_epoch() - 1h).count();
}

template <typename T, std::size_t n>
T one_of(Rng& rng, const T (&choices)[n]) {
  return choices[rng.below(n)];
}

}  // namespace

Simulation::Simulation(std::uint64_t seed, bool trace)
    : seed_(seed), rng_(seed), core_rng_(Rng::mix(seed)), trace_(trace) {
  draw_options();
  draw_backends();
  const std::uint64_t arrivals = 5 + rng_.below(25);
  for (std::uint64_t i = 0; i < arrivals; ++i) {
    // A few of them in the same instant.
    const Duration at = rng_.below(4) == 0 ? kLength / 2 : up_to(kLength);
    schedule(now_ + at, Event::Kind::arrival);
  }
  for (std::uint64_t i = rng_.below(20); i > 0; --i) {
    schedule(now_ + up_to(kLength), Event::Kind::backend_turns);
  }
}

void Simulation::draw_options() {
  // Rarely the hash, whose table takes longer to build than the rest to run.
  policy_ = rng_.below(16) == 0 ? Balance::source_hash
                                : one_of(rng_, {Balance::round_robin, Balance::least_connections,
                                                Balance::random_two, Balance::first});
  options_.enabled = rng_.below(8) != 0;
  options_.attempts = rng_.below(2) == 0 ? 0 : static_cast<int>(1 + rng_.below(10));
  options_.deadline = one_of<Duration>(rng_, {0s, 0s, 120ms, 1s, 4s, 30s});
  options_.backoff_initial = one_of<Duration>(rng_, {0s, 0s, 10ms, 300ms, 5s});
  options_.backoff_max = one_of<Duration>(rng_, {0s, 500ms, 500ms, 2s, 60s});
  connect_ = one_of<Duration>(rng_, {50ms, 1s, 5s});
}

void Simulation::draw_backends() {
  const std::uint64_t count = rng_.below(32) == 0 ? 60 + rng_.below(20) : 1 + rng_.below(6);
  std::map<std::uint32_t, std::vector<Member>> members;
  backends_ = std::vector<ModelBackend>(count);
  for (std::size_t i = 0; i < count; ++i) {
    ModelBackend& backend = backends_[i];
    backend.weight = rng_.below(5) == 0 ? 0 : one_of<std::uint32_t>(rng_, {1, 1, 1, 2, 5, 256});
    backend.tier = one_of<std::uint32_t>(rng_, {0, 0, 0, 1, 1, 7});
    backend.max_active = one_of<std::uint32_t>(rng_, {0, 0, 1, 2, 3});
    backend.answer = draw_answer();
    Tier& tier = tiers_[backend.tier];
    backend.place = tier.backends.size();
    tier.backends.push_back(i);
    members[backend.tier].push_back({fmt::format("b{} 10.0.0.{}:1", i, i), backend.weight});
  }
  for (auto& [priority, tier] : tiers_) tier.balancer.emplace(policy_, members[priority]);
}

Duration Simulation::up_to(Duration most) {
  return Duration(rng_.below(static_cast<std::uint64_t>(most.count()) + 1));
}

DialResult Simulation::draw_answer() {
  if (rng_.below(2) == 0) return {DialOutcome::connected};
  DialResult result;
  result.outcome = one_of(
      rng_, {DialOutcome::refused, DialOutcome::refused, DialOutcome::refused, DialOutcome::timeout,
             DialOutcome::timeout, DialOutcome::reset, DialOutcome::unreachable,
             DialOutcome::tls_identity, DialOutcome::tls_failed, DialOutcome::resolve_failed,
             DialOutcome::closed_early, DialOutcome::first_byte_timeout, DialOutcome::local_error});
  result.no_local_port = result.outcome == DialOutcome::local_error && rng_.below(2) == 0;
  return result;
}

void Simulation::schedule(TimePoint at, Event::Kind kind, std::size_t session, std::uint64_t turn) {
  events_.push({at, scheduled_++, kind, session, turn});
}

std::optional<std::string> Simulation::run() {
  while (!events_.empty() && !violation_) {
    const Event event = events_.top();
    events_.pop();
    check(event.at >= now_, "time ran backwards");
    now_ = event.at;
    step(event);
    check_counts();
    check(scheduled_ < 100'000, "the world does not come to rest");
  }
  if (!violation_) check_at_rest();
  // Whatever a violation left behind must not hide it behind the assertions of destructors.
  for (Session& session : storage_) session.slot.release();
  return violation_;
}

void Simulation::step(const Event& event) {
  switch (event.kind) {
    case Event::Kind::arrival:
      return arrive();
    case Event::Kind::backend_turns:
      backends_[rng_.below(backends_.size())].answer = draw_answer();
      return;
    case Event::Kind::client_leaves:
    case Event::Kind::choose:
    case Event::Kind::dial_ends:
    case Event::Kind::relay_ends:
      break;
  }
  Session& session = *sessions_[event.session];
  if (event.kind == Event::Kind::client_leaves) {
    if (session.state == Session::State::waiting) end(session, CloseReason::client_closed);
    if (session.state == Session::State::dialling) {
      session.coming = {DialOutcome::cancelled};
      dial_ends(session);
    }
    return;
  }
  if (session.state == Session::State::over || session.turn != event.turn) return;
  if (event.kind == Event::Kind::choose) return choose(session);
  if (event.kind == Event::Kind::dial_ends) return dial_ends(session);
  leave_backend(session);
  end(session, one_of(rng_, {CloseReason::client_closed, CloseReason::backend_closed,
                             CloseReason::client_reset, CloseReason::idle_timeout}));
}

void Simulation::arrive() {
  Session& session = storage_.emplace_back(options_, connect_, now_);
  sessions_.push_back(&session);
  session.id = sessions_.size() - 1;
  session.source = Rng::mix(rng_.below(4));
  session.slot = admission_.try_admit();
  if (rng_.below(8) == 0) schedule(now_ + up_to(3s), Event::Kind::client_leaves, session.id);
  choose(session);
}

bool Simulation::has_room(const ModelBackend& backend) const {
  return backend.max_active == 0 || backend.active < backend.max_active;
}

Simulation::View Simulation::look(const Session& session) const {
  View view;
  for (const auto& [priority, tier] : tiers_) {
    for (const std::size_t index : tier.backends) {
      const ModelBackend& backend = backends_[index];
      if (backend.weight == 0) continue;
      if (!has_room(backend)) {
        view.refusals.capacity = true;
        continue;
      }
      if (session.plan.excluded(index)) {
        if (view.left == Left::none) view.left = Left::only_excluded;
        continue;
      }
      view.left = Left::some;
      if (!view.tier) view.tier = priority;
      if (view.tier == priority) {
        view.candidates.push_back({backend.place, backend.weight, backend.active});
      }
    }
  }
  return view;
}

void Simulation::choose(Session& session) {
  const View view = look(session);
  if (!view.tier) {
    if (session.plan.dials() == 0) return end(session, most_telling(view.refusals));
    if (view.left == Left::none) {
      const CloseReason reason = session.plan.last_reason();
      check_giving_up(session, reason, view.left);
      return end(session, reason);
    }
    return follow(session, session.plan.exhausted(now_), view.left);
  }
  Tier& tier = tiers_[*view.tier];
  const auto place = tier.balancer->pick(view.candidates, session.source, core_rng_);
  check(place.has_value(), "there were candidates and none was chosen");
  if (violation_) return;
  check_choice(session, view, *place);
  dial(session, tier.backends[*place]);
}

void Simulation::dial(Session& session, std::size_t index) {
  ModelBackend& backend = backends_[index];
  const TimePoint until = session.plan.dial_deadline(now_);
  check_dial(session, index, until);
  if (violation_) return;

  session.plan.started(index);
  session.permit = backend.circuit.admit(now_);
  session.backend = index;
  session.state = Session::State::dialling;
  session.banned.insert(index);
  session.failed.insert(index);
  ++session.dials;
  ++dials_;
  ++backend.active;

  session.coming = backend.answer;
  TimePoint ends = now_ + up_to(rng_.below(4) == 0 ? connect_ * 2 : Duration(20ms));
  if (session.coming.outcome == DialOutcome::timeout || ends >= until) {
    session.coming = {DialOutcome::timeout};
    ends = until;
  }
  schedule(ends, Event::Kind::dial_ends, session.id, ++session.turn);
  if (trace_) {
    fmt::print("{:12.3f} #{} dials {} until {:.3f}\n", ms(now_), session.id, index, ms(until));
  }
}

void Simulation::dial_ends(Session& session) {
  const DialResult result = session.coming;
  if (trace_) fmt::print("{:12.3f} #{} {}\n", ms(now_), session.id, name(result.outcome));
  switch (verdict(result.outcome)) {
    case Verdict::success:
      session.permit.succeed(now_);
      break;
    case Verdict::failure:
      session.permit.fail(now_);
      break;
    case Verdict::neutral:
      session.permit = Permit();
      break;
  }
  if (result.outcome == DialOutcome::connected) {
    session.state = Session::State::relaying;
    schedule(now_ + up_to(5s), Event::Kind::relay_ends, session.id, ++session.turn);
    return;
  }
  leave_backend(session);
  session.state = Session::State::waiting;
  session.last = result.outcome;
  session.failed_at = now_;
  // Connectors may look before they wait; those that do not must fare as well.
  const Left left = look(session).left;
  const bool looks = rng_.below(4) != 0;
  const DialStep next = looks ? session.plan.after(result, now_, core_rng_, left)
                              : session.plan.after(result, now_, core_rng_);
  if (next.give_up && !retryable(result)) {
    check(*next.give_up == close_reason(result.outcome), "a final failure ended as another");
    return end(session, *next.give_up);
  }
  follow(session, next, looks ? left : Left::some);
}

void Simulation::follow(Session& session, const DialStep& next, Left left) {
  if (next.give_up) {
    check_giving_up(session, *next.give_up, left);
    return end(session, *next.give_up);
  }
  check(left != Left::none, "waits although nobody is left");
  check(next.at <= overall(session), "waits past the overall deadline");
  if (left == Left::only_excluded) {
    check(options_.attempts > 0, "exclusions lifted although every backend has one chance");
    check(next.at >= session.failed_at + 100ms, "dials a backend again within 100 ms");
    session.banned.clear();
  }
  if (trace_) fmt::print("{:12.3f} #{} waits until {:.3f}\n", ms(now_), session.id, ms(next.at));
  schedule(std::max(next.at, now_), Event::Kind::choose, session.id, ++session.turn);
}

void Simulation::leave_backend(Session& session) {
  --backends_[*session.backend].active;
  session.backend.reset();
}

void Simulation::end(Session& session, CloseReason reason) {
  if (trace_) fmt::print("{:12.3f} #{} ends: {}\n", ms(now_), session.id, name(reason));
  session.state = Session::State::over;
  session.slot.release();
  session.ends.push_back(reason);
  reasons_.insert(reason);
}

}  // namespace weir::core
