#include "config/addresses.h"
#include "config/read.h"

namespace weir::config {
namespace {

void read_bind(const Mapping& mapping, Source& source, std::size_t listener, Draft& draft) {
  const Key& key = mapping.key("bind");
  for (const Mapping::Item& item : mapping.items("bind", key.allowed)) {
    const std::optional<Scalar> written = source.scalar(*item.node, item.path, key);
    if (!written) continue;
    const std::optional<core::Endpoint> endpoint = read_bind_address(*written, key, source);
    if (!endpoint) continue;
    draft.configuration.listeners[listener].bind.push_back(*endpoint);
    draft.bound.push_back({*endpoint, listener, written->at, written->path});
  }
}

void read_networks(const Mapping& mapping, Source& source, std::string_view name,
                   std::vector<core::Cidr>& to) {
  const Key& key = mapping.key(name);
  for (const Mapping::Item& item : mapping.optional_items(name, key.allowed)) {
    const std::optional<Scalar> written = source.scalar(*item.node, item.path, key);
    if (!written) continue;
    if (const auto block = read_network(*written, key, source)) to.push_back(*block);
  }
}

void read_listener(const Mapping& mapping, Source& source, Names& names, Draft& draft) {
  const std::size_t index = draft.configuration.listeners.size();
  proxy::ListenerOptions& listener = draft.configuration.listeners.emplace_back();
  listener.name = read_name(mapping, source, names);
  mapping.integer("max_connections", listener.max_connections);
  read_networks(mapping, source, "allow", listener.access.allow);
  read_networks(mapping, source, "deny", listener.access.deny);
  mapping.integer("max_connections_per_source", listener.per_source.connections);
  mapping.integer("max_connection_rate_per_source", listener.per_source.rate);
  if (std::optional<Scalar> pool = read_reference(mapping, "pool", source)) {
    listener.pool = pool->text;
    draft.pool_references.push_back(std::move(*pool));
  }
  read_bind(mapping, source, index, draft);
}

}  // namespace

void read_listeners(const Mapping& top, Source& source, Draft& draft) {
  Names names;
  for (Mapping::Item& item : top.items("listeners", "at least one listener")) {
    read_listener(Mapping(source, item.node, std::move(item.path), "listeners[]"), source, names,
                  draft);
  }
}

}  // namespace weir::config
