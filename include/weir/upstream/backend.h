#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "weir/core/circuit.h"
#include "weir/core/counter.h"
#include "weir/core/dial_outcome.h"
#include "weir/net/socket_address.h"
#include "weir/upstream/backend_health.h"
#include "weir/upstream/dial_counters.h"
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

// One backend of one pool: its options, its gauges and totals. Shared by all workers; outlives
// every session that uses it. Gauges are atomics, totals are kept per worker.
class Backend {
 public:
  // `pool` is the pool's name, for the log. `seed` is for the circuit's jitter: backends that
  // should not be probed in step, here or by other instances, need different ones.
  Backend(BackendOptions options, const ResilienceOptions& resilience, const std::string& pool,
          std::uint64_t seed, std::size_t workers,
          const std::optional<HealthOptions>& health = std::nullopt);
  ~Backend();

  const BackendOptions& options() const { return options_; }
  const std::string& name() const { return options_.name; }
  const std::string& address_text() const { return address_text_; }
  // The numeric address; none for a backend given by name.
  const net::SocketAddress& address() const { return address_; }

  core::Circuit& circuit() { return circuit_; }
  // A selection passed it over because of its circuit.
  void count_circuit_refusal() { circuit_refusals_.fetch_add(1, std::memory_order_relaxed); }
  // The circuit at one moment; its `rejects` are all that it kept away.
  core::CircuitStatus circuit_status(core::TimePoint now);
  // Null without active checks.
  BackendHealth* health() const { return health_.get(); }
  // False when its active checks say so.
  bool healthy() const { return !health_ || health_->healthy(); }

  // Takes a place; an empty lease when its limit is reached. Exact across workers.
  [[nodiscard]] BackendLease claim();
  bool at_capacity() const;
  [[nodiscard]] GaugeGuard count_dial() { return GaugeGuard(dialing_); }

  // How many of its places are taken, and whether that is all. For observers.
  struct Occupancy {
    std::uint32_t active;   // dials and sessions
    std::uint32_t dialing;  // dials alone; a moment apart from the others
    bool full;
  };
  Occupancy occupancy() const;

  std::uint32_t active() const { return places().active; }
  std::uint32_t dialing() const { return dialing_.load(std::memory_order_relaxed); }
  DialTotals& dials(std::size_t worker) { return totals_[worker].dials; }
  // Where a dial is counted; `retries` is null for a first one.
  DialCounters counters(std::size_t worker, DialTotals* retries);
  std::uint64_t dials(core::DialOutcome outcome) const;  // over all workers

 private:
  friend class BackendLease;
  // A cache line and more apart, so that workers do not share lines.
  struct alignas(128) WorkerTotals {
    DialTotals dials;
  };

  class CircuitJournal;

  // Who is here, in one atomic word, so that the limit holds for both together. Aligned as that
  // word: clang calls out to libatomic for anything that may be less.
  struct alignas(std::uint64_t) Places {
    std::uint32_t active = 0;  // dials and sessions
    std::uint32_t alone = 0;   // dials without a client: one at most
  };
  Places places() const { return places_.load(std::memory_order_relaxed); }
  bool full(Places places) const { return limit_ != 0 && places.active + places.alone >= limit_; }
  // Applies `change` to the places; false when it refuses.
  template <typename Change>
  bool update(const Change& change);

  const BackendOptions options_;
  const std::string address_text_;
  const net::SocketAddress address_;
  const std::uint32_t limit_;  // dials and sessions together; 0 = none
  const std::unique_ptr<CircuitJournal> journal_;
  core::Circuit circuit_;
  const std::unique_ptr<BackendHealth> health_;
  std::atomic<Places> places_{};
  static_assert(std::atomic<Places>::is_always_lock_free);
  std::atomic<std::uint32_t> dialing_{0};
  std::atomic<std::uint64_t> circuit_refusals_{0};  // written only while it is in trouble
  const std::size_t workers_;
  std::unique_ptr<WorkerTotals[]> totals_;
};

}  // namespace weir::upstream
