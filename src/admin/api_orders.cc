#include <fmt/format.h>

#include "admin/endpoints.h"
#include "admin/lookup.h"
#include "weir/config/duration.h"

namespace weir::admin {
namespace {

// The body as an object; none is an empty one.
Json body_of(const Call& call) {
  const std::string& body = call.request.body;
  if (body.empty()) return Json::object();
  try {
    Json json = Json::parse(body);
    if (json.is_object()) return json;
  } catch (const Json::parse_error& error) {
    // It begins with the library's name for it.
    const std::string_view what = error.what();
    const std::size_t end = what.find("] ");
    bad_request(fmt::format("the body is not JSON: {}",
                            end == std::string_view::npos ? what : what.substr(end + 2)));
  }
  bad_request("the body must be a JSON object");
}

void only_member(const Json& json, std::string_view allowed) {
  for (const auto& [key, value] : json.items()) {
    if (key == allowed) continue;
    bad_request(
        fmt::format("unknown member {} in the body; {}", key,
                    allowed.empty() ? "it takes none" : fmt::format("it takes {}", allowed)));
  }
}

void no_members(const Call& call) { only_member(body_of(call), {}); }

std::optional<core::Duration> deadline_of(const Call& call) {
  const Json body = body_of(call);
  only_member(body, "deadline");
  const auto found = body.find("deadline");
  if (found == body.end()) return std::nullopt;
  const auto duration = found->is_string()
                            ? config::parse_duration(found->get_ref<const std::string&>())
                            : std::nullopt;
  if (duration) return duration;
  bad_request(
      fmt::format("deadline is a duration like \"30s\" or \"500ms\", not {}", written(*found)));
}

CircuitOrder circuit_order(const std::string& word) {
  if (word == "open") return CircuitOrder::open;
  if (word == "close") return CircuitOrder::close;
  if (word == "bypass") return CircuitOrder::bypass;
  if (word == "auto") return CircuitOrder::automatic;
  not_found(fmt::format("no order to a circuit is called {}; orders are open, close, bypass, auto",
                        word));
}

// Gives the order to the backend that the path names, and shows it as it is then. `check` is shown
// it as it is before, and may throw.
template <typename Order, typename Check>
HttpResponse give(Control& control, const Call& call, const Order& order, const Check& check) {
  const std::string& pool = call.names[0];
  const std::string& backend = call.names[1];
  const Snapshot before = control.snapshot();
  check(find_backend(find_pool(before, pool), backend));
  if (!order(pool, backend)) {
    conflict(
        fmt::format("{}/{} is gone from the configuration and takes no orders", pool, backend));
  }
  return get_backend(control, call);
}

template <typename Order>
HttpResponse give(Control& control, const Call& call, const Order& order) {
  return give(control, call, order, [](const Snapshot::Backend&) {});
}

}  // namespace

HttpResponse post_drain(Control& control, const Call& call) {
  const auto deadline = deadline_of(call);
  return give(control, call, [&](const std::string& pool, const std::string& backend) {
    return control.drain(pool, backend, deadline);
  });
}

HttpResponse post_disable(Control& control, const Call& call) {
  no_members(call);
  return give(control, call, [&](const std::string& pool, const std::string& backend) {
    return control.disable(pool, backend);
  });
}

HttpResponse post_enable(Control& control, const Call& call) {
  no_members(call);
  return give(control, call, [&](const std::string& pool, const std::string& backend) {
    return control.enable(pool, backend);
  });
}

HttpResponse post_circuit(Control& control, const Call& call) {
  no_members(call);
  const CircuitOrder wanted = circuit_order(call.names[2]);
  const auto order = [&](const std::string& pool, const std::string& backend) {
    return control.order(pool, backend, wanted);
  };
  // With the kill switch on an order would hold and do nothing, until a reload one day. To take one
  // back is always right.
  return give(control, call, order, [&](const Snapshot::Backend& backend) {
    if (backend.circuit.enabled || backend.removed || wanted == CircuitOrder::automatic) return;
    conflict(
        fmt::format("circuit_enabled is false in pool {}: its circuits admit everybody and take no "
                    "orders; to keep clients away from {}/{} use disable or drain",
                    call.names[0], call.names[0], call.names[1]));
  });
}

HttpResponse post_shutdown(Control& control, const Call& call) {
  no_members(call);
  control.shut_down();
  return json_response({{"draining", true}});
}

}  // namespace weir::admin
