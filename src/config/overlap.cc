#include "config/overlap.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace weir::config {
namespace {

using core::Endpoint;

constexpr std::string_view kAnyIpv4 = "0.0.0.0";
constexpr std::string_view kAnyIpv6 = "::";

// An address as the kernel sees it.
struct Place {
  Endpoint::Kind family = Endpoint::Kind::ipv4;
  std::string host;  // with its zone

  bool is_any() const {
    return (family == Endpoint::Kind::ipv4 && host == kAnyIpv4) ||
           (family == Endpoint::Kind::ipv6 && host == kAnyIpv6);
  }
};

Place place_of(const Endpoint& endpoint) {
  if (endpoint.kind == Endpoint::Kind::unix_path) {
    return {endpoint.kind, std::filesystem::path(endpoint.host).lexically_normal().string()};
  }
  in6_addr six{};
  if (endpoint.kind == Endpoint::Kind::ipv6 &&
      inet_pton(AF_INET6, endpoint.host.c_str(), &six) == 1 && IN6_IS_ADDR_V4MAPPED(&six)) {
    char text[INET_ADDRSTRLEN] = {};  // another way to write an IPv4 address
    inet_ntop(AF_INET, &six.s6_addr[12], text, sizeof text);
    return {Endpoint::Kind::ipv4, text};
  }
  if (endpoint.zone.empty()) return {endpoint.kind, endpoint.host};
  return {endpoint.kind, endpoint.host + "%" + endpoint.zone};
}

// What is bound on one port so far. Each distinct address once, so that a file with a hundred
// thousand of them stays quick to check.
struct Port {
  std::map<std::string, const BoundAddress*> exact;
  std::vector<std::pair<Place, const BoundAddress*>> any;
  std::vector<std::pair<Place, const BoundAddress*>> all;
};

class Overlaps {
 public:
  explicit Overlaps(const std::vector<BoundAddress>& bound) {
    for (const BoundAddress& one : bound) {
      const Place place = place_of(one.endpoint);
      if (place.family == Endpoint::Kind::ipv4 && place.is_any()) {
        with_any_ipv4_.emplace(one.listener, one.endpoint.port);
      }
    }
  }

  // Takes `next`. The earlier address that covers it or is covered by it, or null.
  const BoundAddress* add(const BoundAddress& next) {
    const Place place = place_of(next.endpoint);
    Port& port = ports_[next.endpoint.port];  // 0 for unix paths
    if (const auto same = port.exact.find(place.host); same != port.exact.end()) {
      return same->second;
    }
    const auto& candidates = place.is_any() ? port.all : port.any;
    const BoundAddress* found = nullptr;
    for (const auto& [other, bound] : candidates) {
      if (!overlap(place, next, other, *bound)) continue;
      found = bound;
      break;
    }
    port.exact.emplace(place.host, &next);
    port.all.emplace_back(place, &next);
    if (place.is_any()) port.any.emplace_back(place, &next);
    return found;
  }

 private:
  // For two addresses of one port that are written differently.
  bool overlap(const Place& a, const BoundAddress& a_bound, const Place& b,
               const BoundAddress& b_bound) const {
    if (a.family == b.family) return a.is_any() || b.is_any();
    if (a.family == Endpoint::Kind::ipv6) return a.is_any() && is_dual(a_bound);
    return b.family == Endpoint::Kind::ipv6 && b.is_any() && is_dual(b_bound);
  }

  // Whether this `[::]` takes IPv4 too.
  bool is_dual(const BoundAddress& any_ipv6) const {
    return with_any_ipv4_.count({any_ipv6.listener, any_ipv6.endpoint.port}) == 0;
  }

  std::set<std::pair<std::size_t, std::uint16_t>> with_any_ipv4_;
  std::map<std::uint16_t, Port> ports_;
};

}  // namespace

void check_overlaps(const std::vector<BoundAddress>& bound, Source& source) {
  Overlaps overlaps(bound);
  for (const BoundAddress& next : bound) {
    const BoundAddress* earlier = overlaps.add(next);
    if (!earlier) continue;
    source.error(next.at, next.path,
                 fmt::format("{} overlaps {} of {} on line {} (each address once)",
                             in_quotes(next.endpoint.text()), earlier->endpoint.text(),
                             earlier->path, earlier->at.line));
  }
}

}  // namespace weir::config
