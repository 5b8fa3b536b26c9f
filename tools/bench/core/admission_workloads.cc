#include <array>
#include <atomic>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

#include "weir/core/admission.h"
#include "workload.h"

namespace weir::bench {
namespace {

using core::Admission;
using core::Admitted;

// What a session is to an admission.
class Client final : private core::Waiter::Watcher {
 public:
  explicit Client(Admission& admission) : admission_(admission), waiter_(nullptr, *this) {}

  // Whether it was parked.
  bool arrive() {
    decided_.store(false, std::memory_order_relaxed);
    Admitted admitted = admission_.admit(waiter_);
    slot_ = std::move(admitted.slot);
    return admitted.outcome == Admitted::Outcome::parked;
  }
  // Whether it has a slot by now.
  bool served() {
    if (waiter_.waiting() && decided_.load(std::memory_order_acquire)) {
      slot_ = waiter_.take().slot;
    }
    return static_cast<bool>(slot_);
  }
  void finish() { slot_.release(); }

 private:
  void on_decided() noexcept override { decided_.store(true, std::memory_order_release); }

  Admission& admission_;
  core::Slot slot_;
  std::atomic<bool> decided_{false};
  core::Waiter waiter_;  // last: it leaves the queue before its watcher is gone
};

// Nobody ever waits: one compare-and-swap to come and one to go, on a word that all threads share.
class BelowTheLimit final : public Workload {
 public:
  explicit BelowTheLimit(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) clients_.emplace_back(admission_);
  }

  std::uint64_t run(std::size_t thread) override {
    Client& client = clients_[thread];
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      if (client.arrive()) throw std::logic_error("a client was parked below the limit");
      client.finish();
    }
    return kBatch;
  }

 private:
  Admission admission_{{.max_active = 1'000'000}};
  std::deque<Client> clients_;
};

// The queue is never empty: every release hands its slot to the head, every arrival is parked at
// the tail, and an operation is one of each, with the taking of what was handed over. Two clients
// for each thread wait and the others have a slot, so that a thread always has some to go on with,
// even while the others sleep with every slot that the queue has ever brought them.
class AtTheLimit final : public Workload {
 public:
  explicit AtTheLimit(std::size_t threads)
      : admission_({.max_active = static_cast<std::uint32_t>(threads * (kClients - kWaiting)),
                    .max_pending = static_cast<std::uint32_t>(threads * kClients)}),
        clients_(threads) {
    for (std::size_t i = 0; i < kClients; ++i) {
      for (auto& clients : clients_) clients.emplace_back(admission_).arrive();
    }
  }

  std::uint64_t run(std::size_t thread) override {
    std::uint64_t done = 0;
    while (done < kBatch) {
      for (Client& client : clients_[thread]) {
        if (!client.served()) continue;
        client.finish();
        if (!client.arrive()) throw std::logic_error("a client overtook the queue");
        ++done;
      }
    }
    return done;
  }

 private:
  static constexpr std::size_t kClients = 64;  // of each thread
  static constexpr std::size_t kWaiting = 2;

  Admission admission_;
  std::vector<std::deque<Client>> clients_;
};

template <typename Kind>
std::unique_ptr<Workload> make(std::size_t threads) {
  return std::make_unique<Kind>(threads);
}

constexpr std::array kAll{
    NamedWorkload{"admission, below the limit: admit, release", make<BelowTheLimit>},
    NamedWorkload{"admission, at the limit: release to the next, wait, take", make<AtTheLimit>},
};

}  // namespace

std::span<const NamedWorkload> admission_workloads() { return kAll; }

}  // namespace weir::bench
