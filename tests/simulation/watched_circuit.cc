#include "tests/simulation/watched_circuit.h"

#include <fmt/format.h>

#include <utility>

namespace weir::simulation {

using core::CircuitPhase;
using core::CircuitStatus;
using core::Duration;
using core::TimePoint;
using core::Verdict;

namespace {

std::string text(const CircuitStatus& status) {
  return fmt::format(
      "{} epoch {} fails {} open_until {} half_open_until {} enabled {} bypassed {} forced {} "
      "in flight {} stale {} rejects {} transitions {} {} {}",
      name(status.phase), status.epoch, status.fails, status.open_until.time_since_epoch().count(),
      status.half_open_until.time_since_epoch().count(), status.enabled, status.bypassed,
      status.forced_open, status.probes_in_flight, status.stale_results, status.rejects,
      status.transitions[0], status.transitions[1], status.transitions[2]);
}

// All that is kept; the rest is worked out from it and from the clock.
bool same(const CircuitStatus& a, const CircuitStatus& b) {
  return a.phase == b.phase && a.epoch == b.epoch && a.fails == b.fails &&
         a.open_until == b.open_until && a.half_open_until == b.half_open_until &&
         a.enabled == b.enabled && a.bypassed == b.bypassed && a.forced_open == b.forced_open &&
         a.probes_in_flight == b.probes_in_flight && a.stale_results == b.stale_results &&
         a.rejects == b.rejects && a.transitions == b.transitions;
}

}  // namespace

void WatchedCircuit::clock(TimePoint now, bool stalled) {
  now_ = now;
  model_.clock(now);
  if (stalled) begin_again();
}

void WatchedCircuit::backend_turned(bool answers) {
  if (answers && !rotation_.answers()) begin_again();
  rotation_.set_answers(answers);
}

Duration WatchedCircuit::longest_open() const {
  const auto timeout = static_cast<double>(options_.fail_timeout.count());
  return Duration(static_cast<std::int64_t>(timeout * (1 + options_.jitter)));
}

bool WatchedCircuit::open_time(TimePoint from, TimePoint until) const {
  return until >= from + options_.fail_timeout && until <= from + longest_open();
}

// Nothing happened but that HALF_OPEN had outlasted its bound, and somebody noticed.
bool WatchedCircuit::expiry(const CircuitStatus& before, CircuitStatus after) const {
  if (!expired(before) || !open_time(before.half_open_until, after.open_until)) return false;
  CircuitStatus expected = before;
  expected.phase = CircuitPhase::open;
  ++expected.epoch;
  ++expected.transitions[static_cast<std::size_t>(CircuitPhase::open)];
  expected.probes_in_flight = 0;
  expected.open_until = after.open_until;
  return same(expected, after);
}

void WatchedCircuit::passed_over() {
  const CircuitStatus after = peek();
  laws_.check(same(before_, after) || expiry(before_, after),
              "to look at a backend, or to choose another, changes its circuit");
}

WatchedCircuit::Leave WatchedCircuit::chosen(const core::Permit& permit, bool mute) {
  const bool round_begins = !permit.epoch() ? false : before_.epoch != permit.epoch();
  const Leave leave = model_.admit();
  laws_.check(leave.granted, "a backend is dialled whose circuit refuses");
  laws_.check(permit.probe() == leave.probe, "a probe that is none, or the reverse");
  laws_.check(permit.epoch() == leave.epoch, "a permit of another epoch");
  const std::uint32_t most = options_.half_open_probes;
  laws_.check(!permit.probe() || most == 0 || peek().probes_in_flight <= most,
              "more probes than half_open_probes");
  if (round_begins) rotation_.probed(now_);
  if (permit.probe() && mute) begin_again();
  return leave;
}

// It has been asked already, by the look; asking once more lets it notice nothing new.
void WatchedCircuit::asked() {
  const bool eligible = circuit_.eligible(now_);
  laws_.check(eligible || rotation_.may_refuse(now_),
              "wedged: a backend that would answer is kept out for too long");
  laws_.check(eligible == admits(), "eligible, or not, against the books");
}

void WatchedCircuit::end(core::Permit permit, const Leave& leave, Verdict verdict) {
  const CircuitStatus before = peek();
  switch (verdict) {
    case Verdict::success:
      permit.succeed(now_);
      model_.verdict(leave, false);
      break;
    case Verdict::failure:
      permit.fail(now_);
      model_.verdict(leave, true);
      break;
    case Verdict::neutral:
      permit = core::Permit();
      model_.neutral(leave);
      break;
  }
  check_verdict(before, peek(), leave, verdict);
}

void WatchedCircuit::check_verdict(const CircuitStatus& before, const CircuitStatus& after,
                                   const Leave& leave, Verdict verdict) {
  CircuitStatus expected = before;
  if (!leave.judged) {
    return laws_.check(same(before, after), "a verdict that nobody asked for changes a circuit");
  }
  if (verdict != Verdict::neutral && expired(before)) {
    CircuitStatus uncounted = after;
    --uncounted.stale_results;
    return laws_.check(expiry(before, uncounted), "HALF_OPEN goes on beyond its bound");
  }
  if (leave.epoch == before.epoch) return check_current(before, after, leave, verdict);
  expected.stale_results += verdict == Verdict::neutral ? 0 : 1;
  laws_.check(after.open_until == before.open_until, "a failure while OPEN moves open_until");
  laws_.check(same(expected, after), "a verdict of an earlier epoch changes a circuit");
}

void WatchedCircuit::check_current(const CircuitStatus& before, const CircuitStatus& after,
                                   const Leave& leave, Verdict verdict) {
  const bool passes_all = before.bypassed || !before.enabled;
  if (verdict == Verdict::neutral || passes_all) {
    CircuitStatus expected = before;
    if (leave.probe) --expected.probes_in_flight;
    if (leave.probe && !expired(before)) begin_again();
    return laws_.check(same(expected, after), "a permit without a verdict decides something");
  }
  if (leave.probe) {
    const bool closes = verdict == Verdict::success;
    laws_.check(after.epoch == before.epoch + 1 &&
                    after.phase == (closes ? CircuitPhase::closed : CircuitPhase::open),
                "a probe's verdict does not decide");
    laws_.check(!closes || after.fails == 0, "a circuit closes with failures on record");
  }
  const bool opens = after.phase == CircuitPhase::open;
  laws_.check(!opens || open_time(now_, after.open_until), "an open time out of its bounds");
  if (opens || verdict == Verdict::failure) begin_again();
}

void WatchedCircuit::recovered() {
  circuit_.recovered(now_);
  model_.recovered();
  begin_again();
}

void WatchedCircuit::retuned(const core::CircuitOptions& options) {
  model_.set_options(options);
  options_ = options;
  begin_again();
}

void WatchedCircuit::force_open() {
  circuit_.force_open(now_);
  model_.force_open();
  begin_again();
}

void WatchedCircuit::close() {
  circuit_.close(now_);
  model_.operator_close();
  begin_again();
}

void WatchedCircuit::bypass() {
  circuit_.bypass();
  model_.bypass();
  begin_again();
}

void WatchedCircuit::automatic() {
  circuit_.automatic(now_);
  model_.automatic();
  begin_again();
}

void WatchedCircuit::compare(std::uint32_t probes) {
  const CircuitStatus real = peek();
  laws_.check(real.probes_in_flight == probes, "probes in flight are not those that are dialled");
  if (expired(real)) return;  // nobody has asked it since
  if (!same(real, model_.status())) {
    laws_.check(false, fmt::format("a circuit against the books\n  is  {}\n  not {}", text(real),
                                   text(model_.status())));
  }
}

void WatchedCircuit::check_at_rest() {
  static_cast<void>(circuit_.eligible(now_));
  compare(0);
}

}  // namespace weir::simulation
