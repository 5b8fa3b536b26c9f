#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

// What a reload does with a changed key.
enum class ReloadClass {
  hot,               // new sessions use it, nothing is closed
  listener_kept,     // the same, and the listening sockets stay
  listener_rebound,  // addresses that came are bound, those that went are closed after draining
  upgrade,           // takes effect at the next start or upgrade only
};

enum class Type {
  access_log,
  address,
  addresses,
  boolean,
  choice,
  duration,
  file_mode,  // 0600
  fraction,   // 0.25
  integer,
  name,
  networks,  // a list of 10.0.0.0/8, perhaps empty
  owner,     // user:group
  pool_name,
  seconds,  // a duration in whole seconds, for what the system counts in seconds
  socket_path,
  source_address,
  workers,
};

// One row of the table that the reader, docs/config.md and conf/full.yaml are held against. Every
// row states everything: the constructor leaves nothing out, so a key without a reload class does
// not compile.
struct Key {
  constexpr Key(std::string_view key_path, Type key_type, std::string_view key_default,
                std::string_view key_allowed, std::string_view key_zero, ReloadClass key_reload)
      : path(key_path),
        type(key_type),
        default_text(key_default),
        allowed(key_allowed),
        zero(key_zero),
        reload(key_reload) {}

  std::string_view path;  // `pools[].timeouts.connect`
  Type type;
  std::string_view default_text;  // as written in a file, or kRequired
  std::string_view allowed;       // `1ms..5m` and `a, b, c` are what the reader enforces
  std::string_view zero;          // what 0 means; `-` where there is no 0
  ReloadClass reload;
};

inline constexpr std::string_view kRequired = "required";

const std::vector<Key>& all_keys();

// Null when there is no such key.
const Key* find_key(std::string_view path);

// The names that may stand directly below `level` (`pools[].timeouts`, empty for the top), each
// once, in the order of the table.
std::vector<std::string_view> names_below(std::string_view level);

// What docs/config.md calls it.
std::string_view text(Type type);

// `hot`, `listener kept`, `listener rebound`, `upgrade`.
std::string_view text(ReloadClass reload);

// What to say of a name that may not stand at `level`: a key it resembles, the level where it
// belongs, and what is allowed here.
std::string unknown_key(std::string_view name, std::string_view level);

}  // namespace weir::config
