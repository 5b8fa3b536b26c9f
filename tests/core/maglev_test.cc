#include "weir/core/maglev.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "weir/core/random.h"

using namespace weir::core;

namespace {

constexpr int kHashes = 20000;

std::vector<Member> members(std::size_t count) {
  std::vector<Member> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({.identity = fmt::format("pg-{} 10.0.0.{}:5432", i, i + 1), .weight = 1});
  }
  return result;
}

std::vector<Candidate> candidates(const std::vector<Member>& all) {
  std::vector<Candidate> result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].weight > 0) result.push_back({.index = i, .weight = all[i].weight, .active = 0});
  }
  return result;
}

// Without scale(0) an epsilon means a part of 1 + the value, which passes anything for a share.
doctest::Approx within(double part, double value) {
  return doctest::Approx(value).epsilon(part).scale(0);
}

// The identity that each of the same hashes is sent to.
std::vector<std::string> assign(const std::vector<Member>& all, const std::vector<Candidate>& among,
                                int hashes = kHashes) {
  const Maglev maglev(all);
  Rng rng(17);
  std::vector<std::string> result;
  for (int i = 0; i < hashes; ++i) result.push_back(all[maglev.pick(among, rng.next())].identity);
  return result;
}

std::vector<std::string> assign(const std::vector<Member>& all) {
  return assign(all, candidates(all));
}

double share(const std::vector<std::string>& assigned, const Member& member) {
  return static_cast<double>(std::count(assigned.begin(), assigned.end(), member.identity)) /
         static_cast<double>(assigned.size());
}

// The share of hashes that moved although neither their old nor their new backend had to.
double moved_without_need(const std::vector<std::string>& before,
                          const std::vector<std::string>& after, const Member& changed) {
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    moved += before[i] != after[i] && before[i] != changed.identity && after[i] != changed.identity
                 ? 1
                 : 0;
  }
  return static_cast<double>(moved) / kHashes;
}

}  // namespace

TEST_CASE("the shares follow the weights") {
  std::vector<Member> all = members(4);
  all[1].weight = 2;
  all[2].weight = 5;
  const auto assigned = assign(all);
  CHECK(share(assigned, all[0]) == within(0.05, 1.0 / 9));
  CHECK(share(assigned, all[1]) == within(0.05, 2.0 / 9));
  CHECK(share(assigned, all[2]) == within(0.05, 5.0 / 9));
  CHECK(share(assigned, all[3]) == within(0.05, 1.0 / 9));
}

TEST_CASE("a member of weight 0 takes no part and changes nothing for the others") {
  std::vector<Member> all = members(4);
  const std::vector<Member> others(all.begin() + 1, all.end());
  all[0].weight = 0;
  const Maglev with(all);
  const Maglev without(others);
  const auto among = candidates(all);
  const auto among_others = candidates(others);
  for (std::size_t place = 0; place < Maglev::kTableSize; ++place) {
    REQUIRE(with.pick(among, place) == without.pick(among_others, place) + 1);
  }
}

TEST_CASE("the order of the backends in the file does not matter") {
  std::vector<Member> all = members(10);
  all[3].weight = 7;
  const auto before = assign(all);
  std::reverse(all.begin(), all.end());
  CHECK(assign(all) == before);
  std::rotate(all.begin(), all.begin() + 3, all.end());
  CHECK(assign(all) == before);
}

TEST_CASE("removing one backend of ten moves its own share and little else") {
  const std::vector<Member> ten = members(10);
  const auto before = assign(ten);
  for (std::size_t removed = 0; removed < ten.size(); ++removed) {
    CAPTURE(removed);
    std::vector<Member> nine = ten;
    nine.erase(nine.begin() + static_cast<std::ptrdiff_t>(removed));
    const auto after = assign(nine);
    CHECK(moved_without_need(before, after, ten[removed]) < 0.04);
    for (const Member& member : nine) {
      CHECK(share(after, member) == within(0.1, 1.0 / 9));
    }
  }
}

TEST_CASE("while a backend is no candidate its share spreads and nothing else moves") {
  const std::vector<Member> ten = members(10);
  const auto before = assign(ten);
  auto among = candidates(ten);
  among.erase(among.begin() + 4);
  const auto without = assign(ten, among);
  CHECK(moved_without_need(before, without, ten[4]) == 0.0);
  CHECK(share(without, ten[4]) == 0.0);
  for (const Candidate& candidate : among) {
    CHECK(share(without, ten[candidate.index]) == within(0.1, 1.0 / 9));
  }
}

TEST_CASE("when a second backend is missing only its own share moves again") {
  const std::vector<Member> ten = members(10);
  auto among = candidates(ten);
  among.erase(among.begin() + 4);
  const auto before = assign(ten, among);
  among.erase(among.begin() + 6);
  CHECK(moved_without_need(before, assign(ten, among), ten[7]) == 0.0);
}

TEST_CASE("the walk goes on from the last place to the first") {
  const std::vector<Member> ten = members(10);
  const Maglev maglev(ten);
  constexpr std::size_t last = Maglev::kTableSize - 1;
  auto among = candidates(ten);
  // Whoever holds the last place goes first, then whoever took over.
  while (among.size() > 1) {
    const std::size_t holder = maglev.pick(among, last);
    std::erase_if(among, [&](const Candidate& c) { return c.index == holder; });
    CHECK(maglev.pick(among, last) == maglev.pick(among, 0));
  }
}

TEST_CASE("candidates with a sliver of the table share what the others leave by weight") {
  std::vector<Member> all = members(60);
  for (Member& member : all) member.weight = 256;
  all[7].weight = 1;
  all[30].weight = 3;
  const std::vector<Candidate> light = {{7, 1, 0}, {30, 3, 0}};
  const auto assigned = assign(all, light, 2000);
  CHECK(share(assigned, all[7]) + share(assigned, all[30]) == within(1e-9, 1.0));
  CHECK(share(assigned, all[7]) == within(0.3, 0.25));
  CHECK(assigned == assign(all, light, 2000));
}

TEST_CASE("two names for one address are two backends") {
  const std::vector<Member> all = {{"a 10.0.0.1:5432", 1}, {"b 10.0.0.1:5432", 1}};
  const auto assigned = assign(all);
  CHECK(share(assigned, all[0]) == within(0.05, 0.5));
}

TEST_CASE("every instance makes the same choice, version after version") {
  const std::vector<Member> all = members(10);
  const Maglev maglev(all);
  const auto among = candidates(all);
  std::array<std::byte, 4> address = {std::byte{192}, std::byte{0}, std::byte{2}, std::byte{0}};
  std::string chosen;
  for (unsigned host = 0; host < 12; ++host) {
    address[3] = static_cast<std::byte>(host);
    chosen += fmt::format("{} ", maglev.pick(among, source_hash(address)));
  }
  CHECK(chosen == "1 6 5 1 7 1 9 2 8 4 3 7 ");
}

TEST_CASE("neighbouring addresses spread evenly") {
  const std::vector<Member> all = members(8);
  const Maglev maglev(all);
  const auto among = candidates(all);
  std::vector<int> chosen(8, 0);
  for (unsigned host = 0; host < 4096; ++host) {
    const std::array<std::byte, 4> address = {std::byte{10}, std::byte{0},
                                              static_cast<std::byte>(host >> 8),
                                              static_cast<std::byte>(host & 0xff)};
    ++chosen[maglev.pick(among, source_hash(address))];
  }
  for (const int times : chosen) CHECK(times == within(0.15, 512));
}
