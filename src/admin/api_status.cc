#include <algorithm>

#include "admin/endpoints.h"
#include "admin/exposition.h"
#include "admin/lookup.h"
#include "admin/metrics.h"

namespace weir::admin {

HttpResponse json_response(const Json& json, int status) {
  HttpResponse response;
  response.status = status;
  response.body = written(json) + "\n";
  return response;
}

HttpResponse get_status(Control& control, const Call&) {
  return json_response(to_json(control.status()));
}

// For load balancers in front: 503 takes this weir out of their list.
HttpResponse get_healthz(Control& control, const Call&) {
  const bool draining = control.status().draining;
  HttpResponse response;
  response.status = draining ? 503 : 200;
  response.type = HttpResponse::kText;
  response.body = draining ? "draining\n" : "serving\n";
  return response;
}

HttpResponse get_metrics(Control& control, const Call&) {
  HttpResponse response;
  response.type = Exposition::kType;
  response.body = metrics(control.snapshot(), control.status(), process_stats());
  return response;
}

HttpResponse get_listeners(Control& control, const Call&) {
  const Snapshot snapshot = control.snapshot();
  Json listeners = Json::array();
  for (const Snapshot::Listener& each : snapshot.listeners) listeners.push_back(to_json(each));
  return json_response({{"listeners", std::move(listeners)}});
}

HttpResponse get_config(Control& control, const Call&) {
  return json_response(to_json(config::describe(control.configuration())));
}

HttpResponse get_events(Control& control, const Call& call) {
  const net::Journal& journal = control.journal();
  const auto since = call.query("since");
  const std::uint64_t after = since ? parse_number("since", *since, 0, UINT64_MAX) : 0;
  // Before the events: what is added meanwhile is left to the next request.
  const std::uint64_t last = journal.last();
  const std::vector<net::Event> found = journal.since(after);
  Json events = Json::array();
  for (const net::Event& each : found) events.push_back(to_json(each));
  const std::uint64_t oldest = last > net::Journal::kKept ? last - net::Journal::kKept + 1 : 1;
  return json_response({{"events", std::move(events)},
                        {"next", found.empty() ? last : found.back().seq},
                        {"oldest", last == 0 ? 0 : oldest}});
}

}  // namespace weir::admin
