#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "weir/core/ip_address.h"
#include "weir/core/time.h"

namespace weir::core {

// What one client address may have; 0 is no bound.
struct SourceBounds {
  std::uint64_t connections = 0;  // at a time
  std::uint64_t rate = 0;         // new ones a second; as many may come at once
  bool operator==(const SourceBounds&) const = default;
};

// Counts the connections of each client address, and how fast they come. Exact across threads. An
// address is remembered while it has a connection, or has had one within the last second; so there
// are never many more than there are connections. Any thread.
class SourceLimits {
  struct Source {
    std::uint64_t connections = 0;
    // When a bucket that was filled at the rate would be full again: one connection empties it by
    // 1/rate s, and it holds a second.
    TimePoint full_at = TimePoint::min();
  };
  struct Hash {
    std::size_t operator()(const IpAddress& address) const noexcept;
  };
  using Sources = std::unordered_map<IpAddress, Source, Hash>;

 public:
  // One connection of a source, given back exactly once. Move-only.
  class Guard {
   public:
    Guard() = default;
    Guard(Guard&& other) noexcept
        : limits_(std::exchange(other.limits_, nullptr)), source_(other.source_) {}
    Guard& operator=(Guard&& other) noexcept {
      std::swap(limits_, other.limits_);
      std::swap(source_, other.source_);
      return *this;
    }
    ~Guard() {
      if (limits_ != nullptr) limits_->release(*source_);
    }

   private:
    friend class SourceLimits;
    Guard(SourceLimits& limits, Sources::value_type& source) : limits_(&limits), source_(&source) {}
    SourceLimits* limits_ = nullptr;
    Sources::value_type* source_ = nullptr;
  };

  explicit SourceLimits(const SourceBounds& bounds = {}) { set(bounds); }

  // Others from now on; they end no connection. Only connections that came while a bound was set
  // are counted.
  void set(const SourceBounds& bounds);
  SourceBounds bounds() const;

  // One more connection of it, or nothing when it has too many or too fast; a refused one counts
  // for nothing. Without bounds the guard is empty.
  [[nodiscard]] std::optional<Guard> admit(const IpAddress& address, TimePoint now);

  // Addresses remembered.
  std::size_t sources() const;

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kFirstSweep = 64;

  // A part of the addresses, so that workers seldom wait for each other.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Sources sources;
    std::size_t sweep_at = kFirstSweep;
  };

  Shard& shard(const IpAddress& address);
  static void sweep(Shard& shard, TimePoint now);
  void release(Sources::value_type& source);

  std::atomic<std::uint64_t> connections_{0};
  std::atomic<std::uint64_t> rate_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace weir::core
