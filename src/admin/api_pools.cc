#include "admin/endpoints.h"
#include "admin/lookup.h"

namespace weir::admin {
namespace {

template <typename Shape>
HttpResponse each_pool(Control& control, const Shape& shape) {
  const Snapshot snapshot = control.snapshot();
  Json pools = Json::array();
  for (const Snapshot::Pool& each : snapshot.pools) pools.push_back(shape(each, snapshot));
  return json_response({{"pools", std::move(pools)}});
}

}  // namespace

HttpResponse get_pools(Control& control, const Call&) {
  return each_pool(control, [](const Snapshot::Pool& pool, const Snapshot& snapshot) {
    return to_json(pool, snapshot);
  });
}

HttpResponse get_health(Control& control, const Call&) {
  return each_pool(control, health_to_json);
}

HttpResponse get_pool(Control& control, const Call& call) {
  const Snapshot snapshot = control.snapshot();
  return json_response(to_json(find_pool(snapshot, call.names[0]), snapshot));
}

HttpResponse get_backend(Control& control, const Call& call) {
  const Snapshot snapshot = control.snapshot();
  const Snapshot::Pool& pool = find_pool(snapshot, call.names[0]);
  return json_response(to_json(find_backend(pool, call.names[1]), snapshot));
}

HttpResponse get_why(Control& control, const Call& call) {
  const auto name = call.query("pool");
  if (!name) bad_request("which pool? /v1/why?pool=NAME");
  const Snapshot snapshot = control.snapshot();
  const Snapshot::Pool& pool = find_pool(snapshot, *name);
  return json_response(to_json(why(pool, snapshot), pool.name));
}

}  // namespace weir::admin
