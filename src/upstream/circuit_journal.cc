#include "upstream/circuit_journal.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "weir/net/log.h"

namespace weir::upstream {
namespace {

std::string bound(const core::Transition& transition) {
  if (transition.until <= transition.at) return {};
  const std::chrono::duration<double> span = transition.until - transition.at;
  return fmt::format("; for {}{:.4g} s",
                     transition.to == core::CircuitPhase::half_open ? "at most " : "",
                     span.count());
}

}  // namespace

CircuitJournal::CircuitJournal(std::string pool, std::string backend, net::Journal* journal)
    : pool_(std::move(pool)), backend_(std::move(backend)), journal_(journal) {}

void CircuitJournal::on_transition(const core::Transition& transition) {
  const std::string why = cause(transition) + bound(transition);
  const bool trouble = transition.to == core::CircuitPhase::open;
  net::log(trouble ? net::LogLevel::warning : net::LogLevel::info, "pool " + pool_,
           "backend {}: circuit {} -> {}: {}", backend_, core::name(transition.from),
           core::name(transition.to), why);
  if (journal_ == nullptr) return;
  journal_->add(net::EventKind::circuit, pool_, backend_, std::string(core::name(transition.to)),
                why, transition.at);
}

std::string CircuitJournal::cause(const core::Transition& transition) const {
  std::string text(core::name(transition.cause));
  switch (transition.cause) {
    case core::TransitionCause::consecutive_failures:
    case core::TransitionCause::failure_rate:
    case core::TransitionCause::probe_failed:
      text += fmt::format(", the last: {}", core::name(last_failure_.load()));
      break;
    case core::TransitionCause::probe_started:
    case core::TransitionCause::probe_succeeded:
    case core::TransitionCause::half_open_expired:
    case core::TransitionCause::health_recovered:
    case core::TransitionCause::operator_open:
    case core::TransitionCause::operator_close:
    case core::TransitionCause::upgraded:
      break;
  }
  return text;
}

}  // namespace weir::upstream
