#include "weir/config/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/choices.h"
#include "config/description_builder.h"

namespace weir::config {
namespace {

using Builder = DescriptionBuilder;

template <typename Items, typename Describe>
Description list_of(const Items& items, const Describe& describe_one) {
  Description list{Description::Kind::list, "", "", {}};
  for (const auto& item : items) list.children.push_back(describe_one(item));
  return list;
}

Description describe_endpoint(const core::Endpoint& endpoint) {
  return {Description::Kind::text, "", endpoint.text(), {}};
}

Description describe_network(const core::Cidr& network) {
  return {Description::Kind::text, "", network.text(), {}};
}

std::string text_or_empty(const std::optional<core::Endpoint>& endpoint) {
  return endpoint ? endpoint->text() : "";
}

void describe_process(const app::AppOptions& app, Builder& to) {
  if (app.workers == 0) {
    to.text("workers", "auto");
  } else {
    to.number("workers", app.workers);
  }
  Builder admin;
  admin.text("socket", app.admin_socket);
  admin.text("mode", fmt::format("{:04o}", app.admin_mode));
  admin.text("owner", app.admin_owner);
  to.add("admin", admin.take());
  Builder http;
  http.text("listen", text_or_empty(app.http_listen));
  to.add("http", http.take());
  Builder log;
  log.text("level", word_of(kLogLevels, app.log.level));
  log.text("format", word_of(kLogFormats, app.log.format));
  log.text("access", app.access_log);
  to.add("log", log.take());
  Builder shutdown;
  shutdown.duration("deadline", app.shutdown_deadline);
  to.add("shutdown", shutdown.take());
}

Description describe_listener(const proxy::ListenerOptions& listener) {
  Builder to;
  to.text("name", listener.name);
  to.add("bind", list_of(listener.bind, describe_endpoint));
  to.number("max_connections", listener.max_connections);
  to.add("allow", list_of(listener.access.allow, describe_network));
  to.add("deny", list_of(listener.access.deny, describe_network));
  to.number("max_connections_per_source", listener.per_source.connections);
  to.number("max_connection_rate_per_source", listener.per_source.rate);
  to.text("pool", listener.pool);
  return to.take();
}

Description describe_resilience(const upstream::ResilienceOptions& options) {
  Builder to;
  to.number("max_active_requests", options.admission.max_active);
  to.number("max_active_per_backend", options.max_active_per_backend);
  to.number("max_pending_requests", options.admission.max_pending);
  to.duration("pending_timeout", options.pending_timeout);
  const core::CircuitOptions& circuit = options.circuit;
  to.boolean("circuit_enabled", circuit.enabled);
  to.number("max_fails", circuit.max_fails);
  to.duration("fail_timeout", circuit.fail_timeout);
  to.fraction("circuit_jitter", circuit.jitter);
  to.number("circuit_half_open_probes", circuit.half_open_probes);
  to.duration("circuit_window", circuit.window);
  to.fraction("circuit_failure_rate", circuit.failure_rate);
  to.number("circuit_min_samples", circuit.min_samples);
  to.text("circuit_success", word_of(kCircuitSuccesses, options.circuit_success));
  if (options.circuit_success == upstream::CircuitSuccess::first_byte) {
    to.duration("first_byte_timeout", options.first_byte_timeout);
  }
  const core::RetryOptions& retry = options.retry;
  to.boolean("retry_enabled", retry.enabled);
  to.number("retry_attempts", retry.attempts);
  to.duration("retry_deadline", retry.deadline);
  to.duration("retry_backoff_initial", retry.backoff_initial);
  to.duration("retry_backoff_max", retry.backoff_max);
  to.number("retry_budget_percent", options.retry_budget_percent);
  return to.take();
}

Description describe_timeouts(const upstream::TimeoutOptions& timeouts) {
  Builder to;
  to.duration("connect", timeouts.connect);
  to.duration("idle", timeouts.idle);
  to.duration("half_close", timeouts.half_close);
  to.duration("write_stall", timeouts.write_stall);
  to.duration("session", timeouts.session);
  to.duration("linger", timeouts.linger);
  return to.take();
}

Description describe_keepalive(const net::KeepaliveOptions& keepalive) {
  Builder to;
  to.duration("idle", keepalive.idle);
  to.duration("interval", keepalive.interval);
  to.number("count", keepalive.count);
  to.duration("user_timeout", keepalive.user_timeout);
  return to.take();
}

Description describe_health(const upstream::HealthOptions& health) {
  Builder to;
  to.text("type", word_of(kHealthTypes, health.type));
  to.duration("interval", health.interval);
  to.duration("timeout", health.timeout);
  to.number("rise", health.rise);
  to.number("fall", health.fall);
  return to.take();
}

Description describe_backend(const upstream::BackendOptions& backend) {
  Builder to;
  to.text("name", backend.name);
  to.text("address", backend.address.text());
  to.number("weight", backend.weight);
  to.number("priority", backend.priority);
  to.number("max_active", backend.max_active);
  return to.take();
}

Description describe_pool(const upstream::PoolOptions& pool) {
  Builder to;
  to.text("name", pool.name);
  to.text("balance", core::name(pool.balance));
  to.add("resilience", describe_resilience(pool.resilience));
  to.add("timeouts", describe_timeouts(pool.timeouts));
  to.add("keepalive", describe_keepalive(pool.keepalive));
  if (pool.health) to.add("health", describe_health(*pool.health));
  to.text("source_address", text_or_empty(pool.source_address));
  to.add("backends", list_of(pool.backends, describe_backend));
  return to.take();
}

}  // namespace

const Description* Description::find(std::string_view name) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Description& child) { return child.key == name; });
  return found == children.end() ? nullptr : &*found;
}

Description describe(const Configuration& configuration) {
  Builder to;
  describe_process(configuration.app, to);
  to.add("listeners", list_of(configuration.listeners, describe_listener));
  to.add("pools", list_of(configuration.pools, describe_pool));
  return to.take();
}

}  // namespace weir::config
