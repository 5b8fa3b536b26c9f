#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/core/admission.h"
#include "weir/core/balancer.h"
#include "weir/core/circuit.h"
#include "weir/core/dial_plan.h"

namespace weir::core {

// One pool on a hand-advanced clock: clients come, leave and finish, backends refuse, hang, recover
// and fill up, all drawn from one seed. It drives the core the way a pool and its connectors do,
// and keeps its own, plainer books, against which every step is checked.
class Simulation {
 public:
  // With `trace` every step is printed.
  Simulation(std::uint64_t seed, bool trace);

  // The first invariant that did not hold, or nothing.
  std::optional<std::string> run();

  std::uint64_t sessions() const { return sessions_.size(); }
  std::uint64_t dials() const { return dials_; }
  const std::set<CloseReason>& reasons() const { return reasons_; }

 private:
  struct ModelBackend {
    std::uint32_t weight = 1;
    std::uint32_t tier = 0;
    std::uint32_t max_active = 0;
    std::uint32_t active = 0;
    std::size_t place = 0;  // among the members of its tier
    DialResult answer;      // to dials that start now; timeout = never answers
    Circuit circuit{{.enabled = false}, 0};
  };

  struct Session {
    enum class State { waiting, dialling, relaying, over };

    Session(const RetryOptions& options, Duration connect, TimePoint now)
        : plan(options, connect, now), arrived(now) {}

    DialPlan plan;
    TimePoint arrived;
    std::size_t id = 0;
    std::uint64_t source = 0;
    State state = State::waiting;
    std::uint64_t turn = 0;  // events meant for an earlier turn are dropped
    Slot slot;
    Permit permit;
    std::optional<std::size_t> backend;
    DialResult coming;  // how the running dial will end

    // The books.
    std::set<std::size_t> banned;  // dialled since the exclusions were last lifted
    std::set<std::size_t> failed;  // ever dialled
    std::size_t dials = 0;
    TimePoint failed_at{};
    std::optional<DialOutcome> last;
    std::vector<CloseReason> ends;
  };

  struct Tier {
    std::vector<std::size_t> backends;
    std::optional<Balancer> balancer;
  };

  struct Event {
    enum class Kind { arrival, backend_turns, client_leaves, choose, dial_ends, relay_ends };

    TimePoint at;
    std::uint64_t order;  // what was scheduled first comes first
    Kind kind;
    std::size_t session;
    std::uint64_t turn;
    bool operator>(const Event& other) const {
      return std::pair(at, order) > std::pair(other.at, other.order);
    }
  };

  // What selection finds for a session, by brute force.
  struct View {
    std::optional<std::uint32_t> tier;  // the first with a candidate
    std::vector<Candidate> candidates;  // of that tier
    Left left = Left::none;
    Refusals refusals;
  };

  void draw_options();
  void draw_backends();
  void schedule(TimePoint at, Event::Kind kind, std::size_t session = 0, std::uint64_t turn = 0);
  Duration up_to(Duration most);
  DialResult draw_answer();

  void step(const Event& event);
  void arrive();
  void choose(Session& session);
  void dial(Session& session, std::size_t index);
  void dial_ends(Session& session);
  void follow(Session& session, const DialStep& next, Left left);
  void end(Session& session, CloseReason reason);
  void leave_backend(Session& session);

  View look(const Session& session) const;
  bool has_room(const ModelBackend& backend) const;
  std::size_t most_dials() const;
  TimePoint overall(const Session& session) const;

  void check(bool holds, std::string_view what);
  void check_choice(const Session& session, const View& view, std::size_t place);
  void check_dial(const Session& session, std::size_t index, TimePoint until);
  void check_giving_up(const Session& session, CloseReason reason, Left left);
  void check_counts();
  void check_at_rest();

  std::uint64_t seed_;
  Rng rng_;       // the world's
  Rng core_rng_;  // the core's
  bool trace_;
  TimePoint now_{std::chrono::hours(1)};
  Balance policy_ = Balance::first;
  RetryOptions options_;
  Duration connect_{};
  std::vector<ModelBackend> backends_;
  std::map<std::uint32_t, Tier> tiers_;
  Admission admission_;
  std::list<Session> storage_;
  std::vector<Session*> sessions_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t scheduled_ = 0;
  std::uint64_t dials_ = 0;
  std::set<CloseReason> reasons_;
  std::map<std::pair<std::uint64_t, std::vector<std::size_t>>, std::size_t> hashed_;
  std::optional<std::string> violation_;
};

}  // namespace weir::core
