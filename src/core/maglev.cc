#include "weir/core/maglev.h"

#include <algorithm>
#include <cassert>
#include <string_view>

#include "weir/core/random.h"

namespace weir::core {
namespace {

constexpr std::uint32_t kFree = UINT32_MAX;

// How far a pick walks before it draws among the candidates by weight. A walk this long means that
// the candidates hold about a thousandth of the table; the bound is for the pool's mutex.
constexpr std::size_t kWalkLimit = 1024;

// FNV-1a with a finaliser: std::hash may differ between builds, and instances must agree.
std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
  }
  return Rng::mix(hash);
}

// One member's own order of all the places, and its turns.
struct Filler {
  std::uint32_t member;
  std::uint64_t weight;
  std::size_t place;
  std::size_t stride;
  std::uint64_t due = 0;  // rounds x weight at which its next turn comes

  Filler(const Member& from, std::uint32_t index) : member(index), weight(from.weight) {
    const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(from.identity)));
    place = hash % Maglev::kTableSize;
    stride = Rng::mix(hash + 1) % (Maglev::kTableSize - 1) + 1;
  }

  void take_next_free(std::vector<std::uint32_t>& table) {
    while (table[place] != kFree) step();
    table[place] = member;
    step();
  }

  void step() { place = (place + stride) % Maglev::kTableSize; }
};

// In the order of identity, so that the order in the file does not matter.
std::vector<Filler> fillers(std::span<const Member> members) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    if (members[i].weight > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return members[a].identity < members[b].identity;
  });
  std::vector<Filler> result;
  result.reserve(order.size());
  for (const std::uint32_t i : order) result.emplace_back(members[i], i);
  return result;
}

bool contains(std::span<const Candidate> candidates, std::size_t index) {
  const auto found = std::lower_bound(
      candidates.begin(), candidates.end(), index,
      [](const Candidate& candidate, std::size_t wanted) { return candidate.index < wanted; });
  return found != candidates.end() && found->index == index;
}

std::size_t draw(std::span<const Candidate> candidates, std::uint64_t hash) {
  std::uint64_t total = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  std::uint64_t point = Rng::mix(hash) % total;
  for (const Candidate& candidate : candidates) {
    if (point < candidate.weight) return candidate.index;
    point -= candidate.weight;
  }
  return candidates.back().index;
}

}  // namespace

std::uint64_t source_hash(std::span<const std::byte> address) { return hash_bytes(address); }

Maglev::Maglev(std::span<const Member> members) {
  std::vector<Filler> all = fillers(members);
  if (all.empty()) return;
  std::uint64_t heaviest = 0;
  for (const Filler& filler : all) heaviest = std::max(heaviest, filler.weight);

  // In each round the heaviest takes a place, the others as often as their weight says; everybody
  // takes one in the first.
  table_.assign(kTableSize, kFree);
  std::size_t taken = 0;
  for (std::uint64_t round = 0;; ++round) {
    for (Filler& filler : all) {
      if (round * filler.weight < filler.due) continue;
      filler.due += heaviest;
      filler.take_next_free(table_);
      if (++taken == kTableSize) return;
    }
  }
}

std::size_t Maglev::pick(std::span<const Candidate> candidates, std::uint64_t hash) const {
  assert(!candidates.empty() && !table_.empty());
  std::size_t place = hash % kTableSize;
  for (std::size_t walked = 0; walked < kWalkLimit; ++walked) {
    if (contains(candidates, table_[place])) return table_[place];
    if (++place == kTableSize) place = 0;
  }
  return draw(candidates, hash);
}

}  // namespace weir::core
