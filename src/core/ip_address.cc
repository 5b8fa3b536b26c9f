#include "weir/core/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace weir::core {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Run {
  std::size_t begin = 0;
  std::size_t length = 0;
};

using Groups = std::array<unsigned, 8>;

Groups groups_of(std::span<const std::uint8_t> bytes) {
  Groups groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups.at(i) = bytes[2 * i] * 256U + bytes[2 * i + 1];
  }
  return groups;
}

// What `::` stands for: the first of the longest runs of zero groups, and a run has two at least.
Run longest_zeros(const Groups& groups) {
  Run longest;
  Run current;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups.at(i) != 0) {
      current = {};
      continue;
    }
    if (current.length++ == 0) current.begin = i;
    if (current.length > longest.length) longest = current;
  }
  return longest.length > 1 ? longest : Run{};
}

}  // namespace

IpAddress::IpAddress(const V4& bytes) { std::copy(bytes.begin(), bytes.end(), bytes_.begin()); }

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  // inet_pton takes a C string and would not see what follows a NUL.
  if (text.find('\0') != std::string_view::npos) return {};
  const std::string literal(text);
  V4 v4{};
  if (inet_pton(AF_INET, literal.c_str(), v4.data()) == 1) return IpAddress(v4);
  V6 v6{};
  if (inet_pton(AF_INET6, literal.c_str(), v6.data()) == 1) return IpAddress(v6);
  return {};
}

IpAddress IpAddress::mapped() const {
  if (is_v6_) return *this;
  V6 bytes{};
  const auto rest = std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin());
  std::copy_n(bytes_.begin(), 4, rest);
  return IpAddress(bytes);
}

IpAddress IpAddress::unmapped() const {
  if (!is_v6_ || !std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes_.begin())) {
    return *this;
  }
  V4 bytes{};
  std::copy_n(bytes_.begin() + kMappedPrefix.size(), 4, bytes.begin());
  return IpAddress(bytes);
}

std::string IpAddress::text() const {
  if (!is_v6_) return fmt::format("{}.{}.{}.{}", bytes_[0], bytes_[1], bytes_[2], bytes_[3]);
  const Groups groups = groups_of(bytes_);
  const Run zeros = longest_zeros(groups);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (zeros.length > 0 && i == zeros.begin) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    fmt::format_to(std::back_inserter(text), "{:x}", groups.at(i));
  }
  return text;
}

}  // namespace weir::core
