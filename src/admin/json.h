#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "weir/admin/control.h"
#include "weir/admin/snapshot.h"
#include "weir/admin/why.h"
#include "weir/config/describe.h"
#include "weir/config/load.h"
#include "weir/config/plan.h"
#include "weir/net/journal.h"
#include "weir/proxy/session_view.h"

// What the API says, as JSON; the shapes are in docs/operations.md.
namespace weir::admin {

using Json = nlohmann::ordered_json;  // members in the order in which they are written here

// One line, without the end of it. Bytes that are no UTF-8, which paths of unix sockets may hold,
// become U+FFFD.
std::string written(const Json& json);

Json to_json(const Status& status);
Json to_json(const Snapshot::Listener& listener);
Json to_json(const Snapshot::Pool& pool, const Snapshot& snapshot);
Json to_json(const Snapshot::Backend& backend, const Snapshot& snapshot);
Json to_json(const core::CircuitStatus& circuit, const Snapshot& snapshot);
Json to_json(const core::HistogramCounts& times);
Json to_json(const upstream::HealthStatus& health, const Snapshot& snapshot);
// The verdict, and the state and circuit of each backend.
Json health_to_json(const Snapshot::Pool& pool, const Snapshot& snapshot);
Json to_json(const Why& why, const std::string& pool);
Json to_json(const net::Event& event);
Json to_json(const config::Description& description);
Json to_json(const config::Problem& problem);
// `changes`, `errors` and `warnings`.
Json to_json(const Reload& reload);
// All of it, as the program writes it at its exit.
Json to_json(const Snapshot& snapshot);

// Sessions are many: written straight into the text, which takes a thirtieth of the time of a
// tree (1 ms for 4,000).
void append_json(std::string& to, const proxy::SessionView& session);
std::string to_json(const Sessions& sessions);

// Counts by name, only those above 0.
template <typename Key, std::size_t size>
Json counts(const std::array<std::uint64_t, size>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < size; ++i) {
    if (values[i] != 0) json[std::string(name(static_cast<Key>(i)))] = values[i];
  }
  return json;
}

}  // namespace weir::admin
