#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tests/simulation/edition.h"
#include "tests/simulation/watched_circuit.h"
#include "weir/core/close_reason.h"
#include "weir/core/dial_plan.h"
#include "weir/core/waiter.h"
#include "weir/upstream/selector.h"

namespace weir::simulation {

// One client's connection, as the session and the connector have it, with the books about it.
struct Client final : core::Waiter::Watcher {
  enum class Stage { arriving, queued, choosing, dialling, relaying, over };

  // `decided` takes the ids of all clients whose wait was decided, in that order.
  Client(std::size_t number, const void* generation, std::vector<std::size_t>& decided)
      : id(number), decided_ids(decided), waiter(generation, *this) {}

  void on_decided() noexcept override { decided_ids.push_back(id); }

  bool over() const { return stage == Stage::over; }
  bool probes() const { return selection && selection->permit && selection->permit.probe(); }

  const std::size_t id;
  std::vector<std::size_t>& decided_ids;
  std::uint64_t source = 0;
  bool mute = false;  // neither it nor its backend will say anything
  Stage stage = Stage::arriving;
  std::uint64_t turn = 0;  // events meant for an earlier turn are dropped
  core::Slot slot;
  std::shared_ptr<const Edition> edition;  // from its first choice on
  std::optional<core::DialPlan> plan;
  std::optional<upstream::Selection> selection;
  WatchedCircuit::Leave leave;   // the permit, as the circuit's model gave it
  Answer answer;                 // to the dial under way
  core::DialResult coming;       // how that dial will end
  core::TimePoint dial_until{};  // the deadline it was given
  bool cut_short = false;        // which the client's overall deadline made an early one

  // The books.
  core::TimePoint plan_began{};
  std::set<std::size_t> banned;  // dialled since the exclusions were last lifted
  std::set<std::size_t> failed;  // ever dialled
  std::size_t dials = 0;
  core::TimePoint failed_at{};
  std::optional<core::DialOutcome> last;
  std::vector<core::CloseReason> ends;

  core::Waiter waiter;  // the last: out of the queue before anything else goes
};

}  // namespace weir::simulation
