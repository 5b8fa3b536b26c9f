#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "weir/core/source_limits.h"
#include "weir/net/acceptor.h"
#include "weir/net/log.h"
#include "weir/proxy/listener_options.h"
#include "weir/proxy/totals.h"

namespace weir::proxy {

class ListenerState;

// A count of one among a listener's connections, taken back exactly once. Move-only.
class ConnectionGuard {
 public:
  ConnectionGuard() = default;
  ConnectionGuard(ConnectionGuard&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  ConnectionGuard& operator=(ConnectionGuard&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~ConnectionGuard();
  explicit operator bool() const { return state_ != nullptr; }

 private:
  friend class ListenerState;
  explicit ConnectionGuard(ListenerState& state) : state_(&state) {}
  ListenerState* state_ = nullptr;
};

// What all workers share of one listener, and what reloads leave of it: its name, its gauge, its
// bounds; and each worker's totals. Outlives every session of it. Any thread.
class ListenerState {
 public:
  ListenerState(const ListenerOptions& options, std::size_t workers)
      : name_(options.name),
        most_(options.max_connections),
        sources_(options.per_source),
        workers_(workers),
        totals_(std::make_unique<WorkerTotals[]>(workers)) {}

  const std::string& name() const { return name_; }
  // Other bounds from now on; they end no connection.
  void retune(const ListenerOptions& options) {
    most_.store(options.max_connections, std::memory_order_relaxed);
    sources_.set(options.per_source);
  }
  std::uint64_t max_connections() const { return most_.load(std::memory_order_relaxed); }
  core::SourceLimits& sources() { return sources_; }
  std::size_t workers() const { return workers_; }
  ListenerTotals& totals(std::size_t worker) { return totals_[worker].totals; }
  const ListenerTotals& totals(std::size_t worker) const { return totals_[worker].totals; }

  // How often each way in which accept fails is logged, over all workers.
  net::LogRate& log_rate(net::AcceptError error) {
    return log_rates_[static_cast<std::size_t>(error)];
  }

  std::uint64_t connections() const { return connections_.load(std::memory_order_relaxed); }

  // One more connection, or an empty guard at `max_connections`. Exact across workers.
  [[nodiscard]] ConnectionGuard admit() {
    std::uint64_t now = connections_.load(std::memory_order_relaxed);
    do {
      const std::uint64_t most = max_connections();
      if (most != 0 && now >= most) return {};
    } while (!connections_.compare_exchange_weak(now, now + 1, std::memory_order_relaxed));
    return ConnectionGuard(*this);
  }

 private:
  friend class ConnectionGuard;
  struct alignas(128) WorkerTotals {
    ListenerTotals totals;
  };

  static constexpr std::chrono::seconds kLogInterval{10};

  const std::string name_;
  std::atomic<std::uint64_t> most_;  // 0 = bounded only by the process
  core::SourceLimits sources_;
  const std::size_t workers_;
  std::atomic<std::uint64_t> connections_{0};
  std::array<net::LogRate, net::kAcceptErrors> log_rates_{
      net::LogRate(kLogInterval), net::LogRate(kLogInterval), net::LogRate(kLogInterval),
      net::LogRate(kLogInterval)};
  std::unique_ptr<WorkerTotals[]> totals_;
};

inline ConnectionGuard::~ConnectionGuard() {
  if (state_ != nullptr) state_->connections_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace weir::proxy
