#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/simulation/admission_books.h"
#include "tests/simulation/client.h"
#include "tests/simulation/edition.h"
#include "tests/simulation/laws.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/timeline.h"
#include "tests/simulation/watched_circuit.h"
#include "weir/core/candidate.h"
#include "weir/upstream/pool.h"
#include "weir/upstream/selector.h"

namespace weir::simulation {

// What happened: a world in which nothing does breaks no law.
struct Seen {
  std::uint64_t dials = 0;
  std::uint64_t parked = 0;
  std::uint64_t granted_late = 0;     // after a wait
  std::uint64_t crossed = 0;          // left when the wait was decided already
  std::uint64_t stale = 0;            // verdicts of an earlier epoch
  std::uint64_t probes_together = 0;  // steps with several probes of one backend
  std::uint64_t came_back = 0;        // backends removed and added back, the same ones
  std::uint64_t began_anew = 0;       // and fresh ones, as nobody was there
  std::set<core::CloseReason> reasons;
  std::set<core::TransitionCause> causes;
};

// One pool on a hand-advanced clock: clients come, wait, leave and finish, backends refuse, hang,
// recover and fill up, operators and reloads interfere, all drawn from one seed. Admission,
// circuits, dial plans, pool and selector are the real ones, driven as sessions and connectors do
// it; beside them are plainer books, and after every step both must agree and every law hold.
class Simulation {
 public:
  // With `trace` every step is printed.
  Simulation(std::uint64_t seed, bool trace);
  ~Simulation();

  // The first law that did not hold, or nothing.
  std::optional<std::string> run();
  const Seen& seen() const { return seen_; }

 private:
  // What a look at the candidates finds, by brute force.
  struct View {
    std::optional<std::size_t> tier;  // the first with a candidate
    std::vector<core::Candidate> candidates;
    core::Left left = core::Left::none;
    core::Refusals refusals;
  };

  void schedule_the_world();
  core::TimePoint some_time() { return now_ + up_to(rng_, kLength); }
  void remember(const WatchedCircuit& circuit);
  void step(const Event& event);
  void step_client(Client& client, const Event& event);
  template <typename... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) const {
    if (trace_) print(fmt::format(format, std::forward<Args>(args)...));
  }
  void print(std::string_view text) const;

  // simulation_queue.cc
  void arrive();
  void told(Client& client);
  void leaves(Client& client, core::CloseReason reason);
  void end(Client& client, core::CloseReason reason);
  void pass_on_decisions();

  // simulation_dials.cc
  void begin_dialling(Client& client);
  void choose(Client& client);
  void none_left(Client& client, const View& view);
  void dial(Client& client, upstream::Selection selection);
  void dial_ends(Client& client);
  void connected(Client& client);
  void first_byte(Client& client);
  void follow(Client& client, const core::DialStep& next, core::Left left);
  void give_verdict(Client& client, core::Verdict verdict);
  void leave_backend(Client& client);
  View look(const Client& client) const;
  void looked(const Client& client, std::optional<std::size_t> chosen);

  // simulation_events.cc
  void backend_turns();
  void reload();
  void replace_pool(const upstream::PoolOptions& options);
  void remove_and_add(std::size_t place, const upstream::PoolOptions& options);
  void order();
  void jump();
  void kill_all();

  // dial_checks.cc
  void check_choice(const Client& client, const View& view, std::size_t place);
  void check_dial(const Client& client, std::size_t place);
  void check_giving_up(const Client& client, core::CloseReason reason, core::Left left);
  std::size_t most_dials(const Client& client) const;
  core::TimePoint overall(const Client& client) const;

  // count_checks.cc
  void check_step();
  void check_admission(std::uint64_t slots);
  void check_backends();
  void check_client(const Client& client);
  void check_at_rest();

  void check(bool holds, std::string_view law) { laws_.check(holds, law); }
  bool broken() const { return laws_.broken().has_value(); }
  // Whether the client's configuration has that backend, with a weight. One that was replaced since
  // takes nobody any more.
  bool offers(const Client& client, std::size_t place) const {
    const upstream::Pool& pool = *client.edition->pool;
    return pool.weight(place) > 0 && &pool.backend(place) == &pool_->backend(place);
  }
  bool has_room(std::size_t place) const {
    const std::uint32_t most = pool_->options().backends[place].max_active;
    return most == 0 || active_[place] < most;
  }
  const core::RetryOptions& retry() const { return scenario_.pool.resilience.retry; }
  core::Duration connect() const { return scenario_.pool.timeouts.connect; }

  std::uint64_t seed_;
  core::Rng rng_;       // the world's
  core::Rng core_rng_;  // the core's
  bool trace_;
  Laws laws_;
  Scenario scenario_;
  core::TimePoint now_{std::chrono::hours(1)};
  Timeline timeline_;
  Seen seen_;

  std::shared_ptr<upstream::Pool> pool_;  // in force
  std::shared_ptr<const Edition> edition_;
  core::Rng seeds_;  // as the pool draws them for its circuits
  upstream::Selector selector_{core_rng_};
  std::deque<WatchedCircuit> circuits_;
  std::vector<Answer> answers_;

  // The books.
  AdmissionBooks admission_books_;
  std::vector<std::uint32_t> active_;          // of each backend
  std::uint64_t excess_ = 0;                   // over the limit, since it was last lowered
  std::vector<std::uint32_t> excesses_;        // the same, of each backend
  std::map<std::size_t, std::size_t> grants_;  // by when they were given: when the client parked
  std::map<std::pair<std::uint64_t, std::vector<std::size_t>>, std::size_t> hashed_;

  std::vector<std::size_t> decided_;  // what the admission has told and nobody passed on yet
  std::size_t decisions_ = 0;
  std::map<std::size_t, std::size_t> decided_at_;  // by client
  std::deque<char> generations_;                   // addresses to tell listeners apart by
  std::vector<std::size_t> listening_;             // those not retired
  std::list<Client> storage_;
  std::vector<Client*> clients_;  // by id
  std::vector<Client*> live_;     // not over
};

}  // namespace weir::simulation
