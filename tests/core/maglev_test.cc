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
  CHECK(share(assigned, all[0]) == doctest::Approx(1.0 / 9).epsilon(0.05));
  CHECK(share(assigned, all[1]) == doctest::Approx(2.0 / 9).epsilon(0.05));
  CHECK(share(assigned, all[2]) == doctest::Approx(5.0 / 9).epsilon(0.05));
  CHECK(share(assigned, all[3]) == doctest::Approx(1.0 / 9).epsilon(0.05));
}

TEST_CASE("a member of weight 0 takes no part and changes nothing for the others") {
  std::vector<Member> all = members(4);
  const std::vector<Member> others(all.begin() + 1, all.end());
  all[0].weight = 0;
  CHECK(assign(all) == assign(others));
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
      CHECK(share(after, member) == doctest::Approx(1.0 / 9).epsilon(0.1));
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
    CHECK(share(without, ten[candidate.index]) == doctest::Approx(1.0 / 9).epsilon(0.1));
  }
}

TEST_CASE("candidates with a sliver of the table share what the others leave by weight") {
  std::vector<Member> all = members(60);
  for (Member& member : all) member.weight = 256;
  all[7].weight = 1;
  all[30].weight = 3;
  const std::vector<Candidate> light = {{7, 1, 0}, {30, 3, 0}};
  const auto assigned = assign(all, light, 2000);
  CHECK(share(assigned, all[7]) + share(assigned, all[30]) == doctest::Approx(1.0));
  CHECK(share(assigned, all[7]) == doctest::Approx(0.25).epsilon(0.3));
  CHECK(assigned == assign(all, light, 2000));
}

TEST_CASE("two names for one address are two backends") {
  const std::vector<Member> all = {{"a 10.0.0.1:5432", 1}, {"b 10.0.0.1:5432", 1}};
  const auto assigned = assign(all);
  CHECK(share(assigned, all[0]) == doctest::Approx(0.5).epsilon(0.05));
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
  for (const int times : chosen) CHECK(times == doctest::Approx(512).epsilon(0.15));
}
