// The laws about counts, after every step: who is where, by the books, is what is counted.
#include "tests/simulation/simulation.h"

namespace weir::simulation {

using core::AdmissionSnapshot;

void Simulation::check_step() {
  std::uint64_t slots = 0;
  for (const Client* client : live_) {
    check_client(*client);
    slots += client->slot ? 1U : 0U;
  }
  check_admission(slots);
  check_backends();
}

void Simulation::check_client(const Client& client) {
  const Client::Stage stage = client.stage;
  check(client.ends.empty(), "a live client has an end");
  check(client.waiter.waiting() == (stage == Client::Stage::queued),
        "waits without being queued, or the reverse");
  check(static_cast<bool>(client.slot) == (stage != Client::Stage::queued),
        "a slot without a session, or the reverse");
  const bool permit = client.selection && client.selection->permit;
  check(permit || stage != Client::Stage::dialling, "dials without a permit");
  check(!permit || stage == Client::Stage::dialling || scenario_.by_first_byte,
        "a permit without a dial");
  check(client.selection.has_value() ==
            (stage == Client::Stage::dialling || stage == Client::Stage::relaying),
        "a backend's place without a connection to it, or the reverse");
  if (!client.plan) return;
  check(client.dials == static_cast<std::size_t>(client.plan->dials()), "dials miscounted");
  for (std::size_t place = 0; place < active_.size(); ++place) {
    check(client.plan->excluded(place) == client.banned.contains(place),
          "excludes the wrong backend");
  }
}

void Simulation::check_admission(std::uint64_t slots) {
  const AdmissionSnapshot real = pool_->admission().snapshot();
  const AdmissionSnapshot books = admission_books_.snapshot();
  check(real.pending <= real.max_pending, "more wait than may");
  check(real.active == slots + admission_books_.untold_grants(),
        "slots are counted that nobody holds, or the reverse");
  const bool limited = real.max_active != 0;
  check(real.pending == 0 || (limited && real.active >= real.max_active),
        "somebody waits beside a free slot");
  const std::uint64_t excess =
      limited && real.active > real.max_active ? real.active - real.max_active : 0;
  check(excess <= excess_, "an excess over the limit grows");
  excess_ = excess;
  check(real.active == books.active && real.pending == books.pending &&
            real.max_active == books.max_active && real.max_pending == books.max_pending &&
            real.rejected == books.rejected,
        "an admission against the books");
}

void Simulation::check_backends() {
  std::vector<std::uint32_t> active(active_.size(), 0);
  std::vector<std::uint32_t> probes(active_.size(), 0);
  std::vector<std::uint64_t> epochs;
  for (const WatchedCircuit& circuit : circuits_) epochs.push_back(circuit.peek().epoch);
  for (const Client* client : live_) {
    if (!client->selection) continue;
    const std::size_t place = client->selection->place;
    ++active[place];
    if (client->probes() && client->selection->permit.epoch() == epochs[place]) ++probes[place];
  }
  std::uint64_t sum = 0;
  for (std::size_t place = 0; place < active.size(); ++place) {
    const upstream::Backend& backend = pool_->backend(place);
    const std::uint32_t most = backend.limit();
    sum += backend.active();
    check(backend.active() == active[place], "a backend's active is not its dials and sessions");
    const std::uint32_t excess = most != 0 && active[place] > most ? active[place] - most : 0;
    check(excess <= excesses_[place], "a backend over its capacity, and more than before");
    excesses_[place] = excess;
    circuits_[place].compare(probes[place]);
    if (probes[place] > 1) ++seen_.probes_together;
  }
  check(sum <= pool_->admission().active(), "the backends hold more sessions than the pool");
}

void Simulation::check_at_rest() {
  check(live_.empty(), "at rest a client is still there");
  check(pool_->admission().active() == 0, "at rest the pool is not empty");
  check(pool_->admission().snapshot().pending == 0, "at rest somebody waits");
  for (const Client* client : clients_) {
    check(client->ends.size() == 1, "a client without exactly one end");
  }
  for (std::size_t place = 0; place < circuits_.size(); ++place) {
    check(pool_->backend(place).active() == 0, "at rest a backend is not empty");
    circuits_[place].check_at_rest();
  }
}

}  // namespace weir::simulation
