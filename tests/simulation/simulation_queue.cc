// Clients and the pool's admission: the way in, the queue, every way out.
#include <algorithm>

#include "tests/simulation/simulation.h"

namespace weir::simulation {

using namespace std::chrono_literals;
using core::Admitted;
using core::CloseReason;
using Kind = Event::Kind;

void Simulation::arrive() {
  const std::size_t generation = listening_[rng_.below(listening_.size())];
  Client& client = storage_.emplace_back(clients_.size(), &generations_[generation], decided_);
  clients_.push_back(&client);
  live_.push_back(&client);
  client.source = core::Rng::mix(rng_.below(4));
  client.mute = scenario_.by_first_byte && rng_.below(4) == 0;
  if (rng_.below(5) == 0) {
    const core::Duration patience = one_of<core::Duration>(rng_, {10ms, 100ms, 1s, 5s, 1h});
    timeline_.add(now_ + up_to(rng_, patience), Kind::client_leaves, client.id);
  }

  core::Admission& admission = pool_->admission();
  const bool others_wait = admission_books_.anyone_waits() || admission.snapshot().pending > 0;
  Admitted admitted = admission.admit(client.waiter);
  const AdmissionBooks::Arrival expected = admission_books_.arrives(client.id, generation);
  trace("#{} arrives, {}", client.id, static_cast<int>(admitted.outcome));
  switch (admitted.outcome) {
    case Admitted::Outcome::granted:
      check(!others_wait, "a newcomer overtakes those who wait");
      check(expected.answer == AdmissionBooks::Answer::granted, "admits against the books");
      client.slot = std::move(admitted.slot);
      return begin_dialling(client);
    case Admitted::Outcome::parked: {
      check(expected.answer == AdmissionBooks::Answer::parked, "parks against the books");
      ++seen_.parked;
      client.stage = Client::Stage::queued;
      const core::Duration most = scenario_.pool.resilience.pending_timeout;
      if (most > 0s) timeline_.add(now_ + most, Kind::pending_timeout, client.id);
      return;
    }
    case Admitted::Outcome::refused:
      check(
          expected.answer == AdmissionBooks::Answer::refused && expected.reason == admitted.reason,
          "refuses against the books");
      return end(client, admitted.reason);
  }
}

// What the admission decided meanwhile reaches each client on its own loop, a little later.
void Simulation::pass_on_decisions() {
  const std::vector<AdmissionBooks::Decision> expected = admission_books_.take_decided();
  const std::vector<std::size_t> decided = std::exchange(decided_, {});
  check(std::equal(expected.begin(), expected.end(), decided.begin(), decided.end(),
                   [](const auto& decision, std::size_t id) { return decision.client == id; }),
        "other waits are decided than in the books, or in another order");
  for (const std::size_t id : decided) {
    trace("#{} is decided", id);
    decided_at_[id] = decisions_++;
    const core::Duration delay = one_of<core::Duration>(rng_, {0s, 0s, 1ms, 200ms});
    timeline_.add(now_ + up_to(rng_, delay), Kind::told, id);
  }
}

void Simulation::told(Client& client) {
  Admitted admitted = client.waiter.take();
  const auto expected = admission_books_.tell(client.id);
  check(expected.has_value(), "tells a client of a decision that the books do not know");
  if (broken()) return;
  trace("#{} is told, {}", client.id, static_cast<int>(admitted.outcome));
  if (admitted.outcome == Admitted::Outcome::refused) {
    check(expected->refused == admitted.reason, "refuses one who waits against the books");
    return end(client, admitted.reason);
  }
  check(admitted.outcome == Admitted::Outcome::granted && !expected->refused,
        "grants against the books");
  ++seen_.granted_late;
  // Whoever was granted earlier had come earlier: ids are the order of arrival.
  const auto [place, fresh] = grants_.emplace(decided_at_[client.id], client.id);
  check(place == grants_.begin() || std::prev(place)->second < client.id,
        "who came later was served first");
  check(std::next(place) == grants_.end() || std::next(place)->second > client.id,
        "who came earlier was served later");
  client.slot = std::move(admitted.slot);
  begin_dialling(client);
}

// Of its own accord, or because its time is up; at any stage.
void Simulation::leaves(Client& client, CloseReason reason) {
  if (client.stage == Client::Stage::queued) {
    if (decided_at_.contains(client.id)) ++seen_.crossed;
    const CloseReason expected = admission_books_.leaves(client.id, reason);
    reason = client.waiter.cancel(reason);
    check(reason == expected, "who leaves the queue is counted otherwise than in the books");
  }
  end(client, reason);
}

void Simulation::end(Client& client, CloseReason reason) {
  trace("#{} ends: {}", client.id, name(reason));
  if (client.selection) leave_backend(client);
  client.stage = Client::Stage::over;
  if (client.slot) {
    client.slot.release();
    admission_books_.gives_back();
  }
  client.ends.push_back(reason);
  seen_.reasons.insert(reason);
  std::erase(live_, &client);
}

}  // namespace weir::simulation
