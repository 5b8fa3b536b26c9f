#include "config/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/near_miss.h"
#include "config/problems.h"

namespace weir::config {
namespace {

// The levels where `name` may stand, each once, the table's order: `pools[].timeouts`.
std::vector<std::string_view> levels_with(std::string_view name) {
  std::vector<std::string_view> levels;
  for (const Key& key : all_keys()) {
    std::size_t start = 0;
    while (start < key.path.size()) {
      const std::size_t end = std::min(key.path.find('.', start), key.path.size());
      std::string_view part = key.path.substr(start, end - start);
      if (part.ends_with("[]")) part.remove_suffix(2);
      if (part == name) {
        const auto level = start == 0 ? "the top level" : key.path.substr(0, start - 1);
        if (std::find(levels.begin(), levels.end(), level) == levels.end()) levels.push_back(level);
      }
      start = end + 1;
    }
  }
  return levels;
}

}  // namespace

// Bounds are there to catch slips such as `5h` for `5s`, hence well above what anybody needs: 720h
// is 30 days. Linux takes at most 32767 s and 127 probes for keepalive.
const std::vector<Key>& all_keys() {
  using enum ReloadClass;
  static constexpr std::string_view kName = "1 to 64 of A-Z a-z 0-9 _ . -";
  static const std::vector<Key> keys{
      {"workers", Type::workers, "auto", "auto, 1..256", "error", upgrade},
      {"admin.socket", Type::socket_path, "/run/weir/admin.sock", "a path, empty", "-", upgrade},
      {"admin.mode", Type::file_mode, "0600", "0600..0777", "-", upgrade},
      {"admin.owner", Type::owner, "", "user, user:group, :group, empty", "-", upgrade},
      {"http.listen", Type::address, "",
       "127.0.0.1:9180, [::1]:9180, unix:/run/weir/http.sock, empty", "-", hot},
      {"log.level", Type::choice, "info", "debug, info, warning, error", "-", hot},
      {"log.format", Type::choice, "text", "text, json", "-", hot},
      {"log.access", Type::access_log, "stdout", "stdout, off, a file", "-", hot},
      {"shutdown.deadline", Type::duration, "30s", "0s..24h", "no bound", hot},

      {"listeners[].name", Type::name, kRequired, kName, "-", listener_rebound},
      {"listeners[].bind", Type::addresses, kRequired,
       "a list of 127.0.0.1:5432, [::1]:5432, unix:/run/weir/x.sock", "-", listener_rebound},
      {"listeners[].max_connections", Type::integer, "0", "0..10000000",
       "bounded only by the process", listener_kept},
      {"listeners[].allow", Type::networks, "[]", "a list of 10.0.0.0/8, 2001:db8::/32, 192.0.2.7",
       "-", listener_kept},
      {"listeners[].deny", Type::networks, "[]", "a list of 10.0.0.0/8, 2001:db8::/32, 192.0.2.7",
       "-", listener_kept},
      {"listeners[].max_connections_per_source", Type::integer, "0", "0..10000000", "no bound",
       listener_kept},
      {"listeners[].max_connection_rate_per_source", Type::integer, "0", "0..1000000", "no bound",
       listener_kept},
      {"listeners[].pool", Type::pool_name, kRequired, "the name of a pool", "-", listener_kept},

      {"pools[].name", Type::name, kRequired, kName, "-", hot},
      {"pools[].balance", Type::choice, "round_robin",
       "round_robin, least_connections, random_two, source_hash, first", "-", hot},
      {"pools[].resilience.max_active_requests", Type::integer, "0", "0..10000000", "unlimited",
       hot},
      {"pools[].resilience.max_active_per_backend", Type::integer, "0", "0..10000000", "unlimited",
       hot},
      {"pools[].resilience.max_pending_requests", Type::integer, "0", "0..100000", "no queue", hot},
      {"pools[].resilience.pending_timeout", Type::duration, "0s", "0s..60s",
       "bounded only by the client", hot},
      {"pools[].resilience.circuit_enabled", Type::boolean, "true", "true, false", "-", hot},
      {"pools[].resilience.max_fails", Type::integer, "1", "1..1000", "error", hot},
      {"pools[].resilience.fail_timeout", Type::duration, "10s", "1ms..1h", "error", hot},
      {"pools[].resilience.circuit_jitter", Type::fraction, "0", "0..1", "none", hot},
      {"pools[].resilience.circuit_half_open_probes", Type::integer, "1", "0..100", "unbounded",
       hot},
      {"pools[].resilience.circuit_window", Type::duration, "0s", "0s..10m", "rate trigger off",
       hot},
      {"pools[].resilience.circuit_failure_rate", Type::fraction, "0.5", "0.0001..1", "error", hot},
      {"pools[].resilience.circuit_min_samples", Type::integer, "20", "1..100000", "error", hot},
      {"pools[].resilience.circuit_success", Type::choice, "connect", "connect, first_byte", "-",
       hot},
      {"pools[].resilience.first_byte_timeout", Type::duration, "5s", "1ms..5m", "error", hot},
      {"pools[].resilience.retry_enabled", Type::boolean, "true", "true, false", "-", hot},
      {"pools[].resilience.retry_attempts", Type::integer, "0", "0..10",
       "every eligible backend once", hot},
      {"pools[].resilience.retry_deadline", Type::duration, "0s", "0s..5m",
       "bounded by timeouts.connect x attempts", hot},
      {"pools[].resilience.retry_backoff_initial", Type::duration, "0s", "0s..10s", "at once", hot},
      {"pools[].resilience.retry_backoff_max", Type::duration, "500ms", "0s..60s", "at once", hot},
      {"pools[].resilience.retry_budget_percent", Type::integer, "0", "0..100", "unbudgeted", hot},
      {"pools[].timeouts.connect", Type::duration, "5s", "1ms..5m", "error", hot},
      {"pools[].timeouts.idle", Type::duration, "1h", "0s..720h", "no bound", hot},
      {"pools[].timeouts.half_close", Type::duration, "30s", "0s..720h", "as idle", hot},
      {"pools[].timeouts.write_stall", Type::duration, "60s", "0s..720h", "as idle", hot},
      {"pools[].timeouts.session", Type::duration, "0s", "0s..720h", "no bound", hot},
      {"pools[].timeouts.linger", Type::duration, "5s", "0s..60s", "close at once", hot},
      {"pools[].keepalive.idle", Type::seconds, "60s", "0s..9h", "the system's setting", hot},
      {"pools[].keepalive.interval", Type::seconds, "10s", "0s..9h", "the system's setting", hot},
      {"pools[].keepalive.count", Type::integer, "3", "0..127", "the system's setting", hot},
      {"pools[].keepalive.user_timeout", Type::duration, "90s", "0s..24h", "the system's setting",
       hot},
      {"pools[].health.type", Type::choice, "tcp", "tcp", "-", hot},
      {"pools[].health.interval", Type::duration, "5s", "1ms..1h", "error", hot},
      {"pools[].health.timeout", Type::duration, "2s", "1ms..5m", "error", hot},
      {"pools[].health.rise", Type::integer, "2", "1..1000", "error", hot},
      {"pools[].health.fall", Type::integer, "3", "1..1000", "error", hot},
      {"pools[].source_address", Type::source_address, "", "10.0.0.1, fd00::1, empty", "-", hot},
      {"pools[].backends[].name", Type::name, kRequired, kName, "-", hot},
      {"pools[].backends[].address", Type::address, kRequired,
       "10.0.0.1:5432, [fd00::1]:5432, db.internal:5432, unix:/run/x.sock", "-", hot},
      {"pools[].backends[].weight", Type::integer, "1", "0..256", "takes no new sessions", hot},
      {"pools[].backends[].priority", Type::integer, "0", "0..255", "the preferred tier", hot},
      {"pools[].backends[].max_active", Type::integer, "0", "0..10000000", "no bound of its own",
       hot},
  };
  return keys;
}

const Key* find_key(std::string_view path) {
  const auto& keys = all_keys();
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

std::vector<std::string_view> names_below(std::string_view level) {
  std::vector<std::string_view> names;
  for (const Key& key : all_keys()) {
    std::string_view rest = key.path;
    if (!level.empty()) {
      if (rest.substr(0, level.size()) != level || rest.substr(level.size(), 1) != ".") continue;
      rest.remove_prefix(level.size() + 1);
    }
    const std::string_view name = rest.substr(0, rest.find_first_of(".["));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string_view text(Type type) {
  switch (type) {
    case Type::access_log:
      return "a file or a word";
    case Type::address:
      return "address";
    case Type::addresses:
      return "list of addresses";
    case Type::networks:
      return "list of networks";
    case Type::boolean:
      return "boolean";
    case Type::choice:
      return "choice";
    case Type::duration:
      return "duration";
    case Type::file_mode:
      return "octal file mode";
    case Type::fraction:
      return "fraction";
    case Type::integer:
      return "whole number";
    case Type::name:
    case Type::pool_name:
      return "name";
    case Type::owner:
      return "user and group";
    case Type::seconds:
      return "duration in whole seconds";
    case Type::socket_path:
      return "path of a unix socket";
    case Type::source_address:
      return "address without port";
    case Type::workers:
      return "whole number or a word";
  }
  return "";
}

std::string_view text(ReloadClass reload) {
  switch (reload) {
    case ReloadClass::hot:
      return "hot";
    case ReloadClass::listener_kept:
      return "listener kept";
    case ReloadClass::listener_rebound:
      return "listener rebound";
    case ReloadClass::upgrade:
      return "upgrade";
  }
  return "";
}

std::string unknown_key(std::string_view name, std::string_view level) {
  const std::vector<std::string_view> allowed = names_below(level);
  std::string what = "unknown key";
  if (const std::string_view near = near_miss(name, allowed); !near.empty()) {
    what += fmt::format(", did you mean {}?", near);
  } else if (const auto levels = levels_with(name); !levels.empty()) {
    what += fmt::format(" at this level, it belongs to {}", fmt::join(levels, " or "));
  }
  return fmt::format("{} (allowed here: {})", what, fmt::join(allowed, ", "));
}

}  // namespace weir::config
