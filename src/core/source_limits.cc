#include "weir/core/source_limits.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>

namespace weir::core {

std::size_t SourceLimits::Hash::operator()(const IpAddress& address) const noexcept {
  const auto bytes = address.bytes();
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void SourceLimits::set(const SourceBounds& bounds) {
  connections_.store(bounds.connections, std::memory_order_relaxed);
  rate_.store(bounds.rate, std::memory_order_relaxed);
}

SourceBounds SourceLimits::bounds() const {
  return {connections_.load(std::memory_order_relaxed), rate_.load(std::memory_order_relaxed)};
}

// By other bits than those that the table within it goes by.
SourceLimits::Shard& SourceLimits::shard(const IpAddress& address) {
  return shards_[Hash()(address) >> 32 & (kShards - 1)];
}

// What is remembered of nobody's connection is forgotten when the table has doubled: a constant
// part of each connection's work.
void SourceLimits::sweep(Shard& shard, TimePoint now) {
  std::erase_if(shard.sources, [now](const Sources::value_type& each) {
    return each.second.connections == 0 && each.second.full_at <= now;
  });
  shard.sweep_at = std::max(kFirstSweep, 2 * shard.sources.size());
}

std::optional<SourceLimits::Guard> SourceLimits::admit(const IpAddress& address, TimePoint now) {
  const SourceBounds most = bounds();
  if (most == SourceBounds{}) return Guard();
  Shard& shard = this->shard(address);
  const std::lock_guard lock(shard.mutex);
  if (shard.sources.size() >= shard.sweep_at) sweep(shard, now);
  Sources::value_type& found = *shard.sources.try_emplace(address).first;
  Source& source = found.second;
  if (most.connections != 0 && source.connections >= most.connections) return std::nullopt;
  if (most.rate != 0) {
    constexpr Duration kBucket = std::chrono::seconds(1);
    const Duration each = kBucket / static_cast<Duration::rep>(most.rate);
    const TimePoint full_at = std::max(source.full_at, now);
    if (full_at + each > now + kBucket) return std::nullopt;
    source.full_at = full_at + each;
  }
  ++source.connections;
  return Guard(*this, found);
}

void SourceLimits::release(Sources::value_type& source) {
  Shard& shard = this->shard(source.first);
  const std::lock_guard lock(shard.mutex);
  if (--source.second.connections == 0 && source.second.full_at == TimePoint::min()) {
    shard.sources.erase(shard.sources.find(source.first));
  }
}

std::size_t SourceLimits::sources() const {
  std::size_t sum = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.sources.size();
  }
  return sum;
}

}  // namespace weir::core
