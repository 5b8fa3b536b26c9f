#include <fmt/format.h>

#include <algorithm>

#include "config/addresses.h"
#include "config/read.h"
#include "config/read_resilience.h"

namespace weir::config {
namespace {

using upstream::BackendOptions;
using upstream::PoolOptions;
using upstream::TimeoutOptions;

void read_balance(const Mapping& mapping, Source& source, core::Balance& balance) {
  const std::optional<Scalar> written = mapping.scalar("balance");
  if (!written) return;
  if (const std::optional<core::Balance> read = core::parse_balance(written->text)) {
    balance = *read;
  } else {
    source.wrong(*written, mapping.key("balance"), "is not one of the choices");
  }
}

void read_timeouts(const Mapping& mapping, Source& source, TimeoutOptions& timeouts) {
  mapping.duration("connect", timeouts.connect);
  const Outcome idle = mapping.duration("idle", timeouts.idle);
  const Outcome half_close = mapping.duration("half_close", timeouts.half_close);
  mapping.duration("write_stall", timeouts.write_stall);
  mapping.duration("session", timeouts.session);
  mapping.duration("linger", timeouts.linger);

  const bool bounded = timeouts.idle != core::Duration::zero();
  if (!bounded || idle == Outcome::wrong || timeouts.half_close <= timeouts.idle) return;
  if (half_close == Outcome::absent) {
    timeouts.half_close = timeouts.idle;
  } else if (half_close == Outcome::read) {
    const Scalar written = *mapping.scalar("half_close");
    source.error(written.at, written.path,
                 fmt::format("{} is longer than idle (allowed: 0s, or at most idle)",
                             in_quotes(written.text)));
  }
}

void read_keepalive(const Mapping& mapping, net::KeepaliveOptions& keepalive) {
  mapping.duration("idle", keepalive.idle);
  mapping.duration("interval", keepalive.interval);
  mapping.integer("count", keepalive.count);
  mapping.duration("user_timeout", keepalive.user_timeout);
}

// Written as `{}` it is checks with their defaults; left out, there are none.
std::optional<upstream::HealthOptions> read_health(const Mapping& mapping, Source& source) {
  if (!mapping.present()) return std::nullopt;
  upstream::HealthOptions health;
  mapping.choice("type", health.type, kHealthTypes);
  const Outcome interval = mapping.duration("interval", health.interval);
  const Outcome timeout = mapping.duration("timeout", health.timeout);
  mapping.integer("rise", health.rise);
  mapping.integer("fall", health.fall);

  const bool right = interval != Outcome::wrong && timeout != Outcome::wrong;
  if (right && health.timeout > health.interval) {
    const Node* written = mapping.find("timeout");
    source.warning(written ? written->at : mapping.at(), mapping.path_of("timeout"),
                   "longer than interval: a backend that does not answer takes fall x timeout to "
                   "be found out (set it to interval at most)");
  }
  return health;
}

// A socket bound to an address of one family cannot reach the other.
void check_families(const Scalar& written, const core::Endpoint& address,
                    const std::optional<core::Endpoint>& from, Source& source) {
  using Kind = core::Endpoint::Kind;
  const bool numeric = address.kind == Kind::ipv4 || address.kind == Kind::ipv6;
  if (!from || !numeric || address.kind == from->kind) return;
  source.error(written.at, written.path,
               fmt::format("cannot be dialled from source_address {} (allowed: {})", from->host,
                           from->kind == Kind::ipv4 ? "an IPv4 address" : "an IPv6 address"));
}

BackendOptions read_backend(const Mapping& mapping, Source& source, const PoolOptions& pool,
                            Names& names) {
  BackendOptions backend;
  backend.name = read_name(mapping, source, names);
  if (const std::optional<Scalar> written = mapping.required_scalar("address")) {
    if (auto address = read_backend_address(*written, mapping.key("address"), source)) {
      check_families(*written, *address, pool.source_address, source);
      backend.address = std::move(*address);
    }
  }
  mapping.integer("weight", backend.weight);
  mapping.integer("priority", backend.priority);
  mapping.integer("max_active", backend.max_active);
  return backend;
}

void read_backends(const Mapping& mapping, Source& source, PoolOptions& pool) {
  Names names;
  std::vector<BackendOptions>& backends = pool.backends;
  for (Mapping::Item& item : mapping.items("backends", "at least one backend")) {
    const Mapping backend(source, item.node, std::move(item.path), "pools[].backends[]");
    backends.push_back(read_backend(backend, source, pool, names));
  }
  const bool all_zero =
      std::all_of(backends.begin(), backends.end(),
                  [](const BackendOptions& backend) { return backend.weight == 0; });
  if (!backends.empty() && all_zero) {
    source.error(mapping.find("backends")->at, mapping.path_of("backends"),
                 "all weights are 0, so no backend takes sessions (allowed: at least one above 0)");
  }
}

void read_source(const Mapping& mapping, Source& source, PoolOptions& pool) {
  const std::optional<Scalar> written = mapping.scalar("source_address");
  if (!written || written->text.empty()) return;
  pool.source_address = read_source_address(*written, mapping.key("source_address"), source);
}

}  // namespace

void read_pools(const Mapping& top, Source& source, Draft& draft, Names& pools) {
  for (Mapping::Item& item : top.items("pools", "at least one pool")) {
    const Mapping mapping(source, item.node, std::move(item.path), "pools[]");
    PoolOptions& pool = draft.configuration.pools.emplace_back();
    pool.name = read_name(mapping, source, pools);
    read_balance(mapping, source, pool.balance);
    const Mapping resilience = mapping.child("resilience");
    const bool circuit_is_right = read_resilience(
        resilience, source, draft.configuration.app.shutdown_deadline, pool.resilience);
    read_timeouts(mapping.child("timeouts"), source, pool.timeouts);
    read_keepalive(mapping.child("keepalive"), pool.keepalive);
    pool.health = read_health(mapping.child("health"), source);
    read_source(mapping, source, pool);
    read_backends(mapping, source, pool);
    if (circuit_is_right) check_resilience(mapping, resilience, source, pool);
  }
}

}  // namespace weir::config
