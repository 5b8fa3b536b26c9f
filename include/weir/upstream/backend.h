#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "weir/core/circuit.h"
#include "weir/core/counter.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/journal.h"
#include "weir/net/socket_address.h"
#include "weir/upstream/backend_health.h"
#include "weir/upstream/backend_totals.h"
#include "weir/upstream/dial_counters.h"
#include "weir/upstream/duty.h"
#include "weir/upstream/pool_options.h"

namespace weir::upstream {

class Backend;

// A count of one on an atomic gauge, taken back exactly once. Move-only.
class GaugeGuard {
 public:
  GaugeGuard() = default;
  explicit GaugeGuard(std::atomic<std::uint32_t>& gauge) : gauge_(&gauge) {
    gauge.fetch_add(1, std::memory_order_relaxed);
  }
  GaugeGuard(GaugeGuard&& other) noexcept : gauge_(std::exchange(other.gauge_, nullptr)) {}
  GaugeGuard& operator=(GaugeGuard&& other) noexcept {
    std::swap(gauge_, other.gauge_);
    return *this;
  }
  ~GaugeGuard() {
    if (gauge_ != nullptr) gauge_->fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint32_t>* gauge_ = nullptr;
};

// One of a backend's places, from the choice of the backend to the close of its socket: dials and
// sessions together. Given back exactly once. Move-only; any thread.
class BackendLease {
 public:
  BackendLease() = default;
  BackendLease(BackendLease&& other) noexcept
      : backend_(std::exchange(other.backend_, nullptr)), alone_(other.alone_) {}
  BackendLease& operator=(BackendLease&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(alone_, other.alone_);
    return *this;
  }
  ~BackendLease();

  // The client has left: from here on the place counts towards the limit, but is no longer active.
  // False, and nothing changed, when the backend has such a place taken already.
  [[nodiscard]] bool go_alone();

  explicit operator bool() const { return backend_ != nullptr; }
  Backend* operator->() const { return backend_; }
  Backend& operator*() const { return *backend_; }

 private:
  friend class Backend;
  explicit BackendLease(Backend& backend) : backend_(&backend) {}
  Backend* backend_ = nullptr;
  bool alone_ = false;
};

class CircuitJournal;

// One backend of one pool, known by name and address: its gauges, its totals, its circuit, its
// health. Shared by all workers and by the configurations it is part of: what a reload may change
// about it is changed in place, and nothing else of it is lost. Outlives every session that uses
// it. Gauges are atomics, totals are kept per worker.
class Backend {
 public:
  // `pool` is the pool's name, for the log. `seed` is for the circuit's jitter: backends that
  // should not be probed in step, here or by other instances, need different ones. The journal may
  // be null.
  Backend(const BackendOptions& options, const ResilienceOptions& resilience,
          const std::string& pool, std::uint64_t seed, std::size_t workers,
          const std::optional<HealthOptions>& health = std::nullopt,
          net::Journal* journal = nullptr);
  ~Backend();

  const std::string& name() const { return name_; }
  const core::Endpoint& endpoint() const { return endpoint_; }
  const std::string& address_text() const { return address_text_; }
  // The numeric address; none for a backend given by name.
  const net::SocketAddress& address() const { return address_; }

  // Other limits, thresholds and checks from now on; gauges, circuit and health stay as they are.
  // Of another address nothing is taken: that is another backend.
  void retune(const BackendOptions& options, const ResilienceOptions& resilience,
              const std::optional<HealthOptions>& health, core::TimePoint now);

  // Once it has returned, nobody takes a place against it.
  void set_duty(const Duty& duty);
  Duty duty() const;
  // The gate of duty(), without a lock.
  bool takes_sessions() const { return places().barred == 0; }

  core::Circuit& circuit() { return circuit_; }
  // A selection passed it over because of its circuit.
  void count_circuit_refusal() { circuit_refusals_.fetch_add(1, std::memory_order_relaxed); }
  // The circuit at one moment; its `rejects` are all that it kept away.
  core::CircuitStatus circuit_status(core::TimePoint now);
  // Null without active checks.
  BackendHealth* health() { return health_.checked() ? &health_ : nullptr; }
  const BackendHealth* health() const { return health_.checked() ? &health_ : nullptr; }
  // False when its active checks say so.
  bool healthy() const { return health_.healthy(); }

  // Takes a place; an empty lease when its limit is reached or it takes no sessions. Exact across
  // workers.
  [[nodiscard]] BackendLease claim();
  bool at_capacity() const;
  std::uint32_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // During an upgrade two processes share the limit. The one that comes leaves to the other what
  // that has; the one that goes takes no more than its ceiling, whoever it may still dial for.
  void set_taken_elsewhere(std::uint32_t places) {
    elsewhere_.store(places, std::memory_order_relaxed);
  }
  std::uint32_t taken_elsewhere() const { return elsewhere_.load(std::memory_order_relaxed); }
  // So many of those are ours from here on; the ceiling stays. Not at once with the above.
  void take_from_elsewhere(std::uint32_t places) {
    const std::uint32_t there = elsewhere_.load(std::memory_order_relaxed);
    elsewhere_.store(there - std::min(places, there), std::memory_order_relaxed);
  }
  void set_ceiling(std::uint32_t places) { ceiling_.store(places, std::memory_order_relaxed); }
  [[nodiscard]] GaugeGuard count_dial() { return GaugeGuard(dialing_); }

  // How many of its places are taken, and whether that is all. For observers.
  struct Occupancy {
    std::uint32_t active;   // dials and sessions
    std::uint32_t alone;    // dials without a client; they count towards the limit as well
    std::uint32_t dialing;  // dials alone; a moment apart from the others
    bool full;
  };
  Occupancy occupancy() const;
  // Nobody is here, and nobody dials it, alone or not. Acquire: what those who were here counted
  // is seen.
  bool deserted() const {
    const Places now = places_.load(std::memory_order_acquire);
    return now.active == 0 && now.alone == 0;
  }

  std::uint32_t active() const { return places().active; }
  std::uint32_t dialing() const { return dialing_.load(std::memory_order_relaxed); }
  DialTotals& dials(std::size_t worker) { return totals_[worker].dials; }
  // Where a dial is counted; `retries` is null for a first one.
  DialCounters counters(std::size_t worker, DialTotals* retries);
  std::uint64_t dials(core::DialOutcome outcome) const;  // over all workers
  BackendTotals totals(core::TimePoint now);

 private:
  friend class BackendLease;
  // A cache line and more apart, so that workers do not share lines.
  struct alignas(128) WorkerTotals {
    DialTotals dials;
  };

  // Who is here, and whether anybody may come, in one atomic word, so that the limit holds for all
  // and an order is obeyed by all. Aligned as that word: clang calls out to libatomic for anything
  // that may be less.
  struct alignas(std::uint64_t) Places {
    std::uint32_t active = 0;  // dials and sessions
    std::uint16_t alone = 0;   // dials without a client: one at most
    std::uint16_t barred = 0;  // 1 = takes no sessions
  };
  Places places() const { return places_.load(std::memory_order_relaxed); }
  bool full(Places places) const {
    const std::uint32_t most = limit();
    if (most == 0) return false;
    const std::uint64_t here = std::uint64_t{places.active} + places.alone;
    return here + elsewhere_.load(std::memory_order_relaxed) >= most ||
           here >= ceiling_.load(std::memory_order_relaxed);
  }
  // Applies `change` to the places; false when it refuses.
  template <typename Change>
  bool update(const Change& change);

  const std::string name_;
  const core::Endpoint endpoint_;
  const std::string address_text_;
  const net::SocketAddress address_;
  std::atomic<std::uint32_t> limit_;  // dials and sessions together; 0 = none
  std::atomic<std::uint32_t> elsewhere_{0};
  std::atomic<std::uint32_t> ceiling_{UINT32_MAX};
  const std::unique_ptr<CircuitJournal> journal_;
  core::Circuit circuit_;
  BackendHealth health_;
  mutable std::mutex duty_mutex_;
  Duty duty_;
  std::atomic<Places> places_{};
  static_assert(std::atomic<Places>::is_always_lock_free);
  std::atomic<std::uint32_t> dialing_{0};
  std::atomic<std::uint64_t> circuit_refusals_{0};  // written only while it is in trouble
  const std::size_t workers_;
  std::unique_ptr<WorkerTotals[]> totals_;
};

}  // namespace weir::upstream
