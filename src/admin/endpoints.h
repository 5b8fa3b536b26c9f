#pragma once

#include "admin/json.h"
#include "admin/router.h"

// What each route answers; docs/operations.md has the table.
namespace weir::admin {

HttpResponse json_response(const Json& json, int status = 200);

HttpResponse get_status(Control& control, const Call& call);
HttpResponse get_metrics(Control& control, const Call& call);
HttpResponse get_healthz(Control& control, const Call& call);
HttpResponse get_listeners(Control& control, const Call& call);
HttpResponse get_config(Control& control, const Call& call);
HttpResponse get_events(Control& control, const Call& call);

HttpResponse get_pools(Control& control, const Call& call);
HttpResponse get_pool(Control& control, const Call& call);
HttpResponse get_backend(Control& control, const Call& call);
HttpResponse get_health(Control& control, const Call& call);
HttpResponse get_why(Control& control, const Call& call);

HttpResponse get_sessions(Control& control, const Call& call);
HttpResponse get_session(Control& control, const Call& call);
HttpResponse delete_sessions(Control& control, const Call& call);
HttpResponse delete_session(Control& control, const Call& call);

HttpResponse post_plan(Control& control, const Call& call);
HttpResponse post_reload(Control& control, const Call& call);

HttpResponse post_drain(Control& control, const Call& call);
HttpResponse post_disable(Control& control, const Call& call);
HttpResponse post_enable(Control& control, const Call& call);
HttpResponse post_circuit(Control& control, const Call& call);
HttpResponse post_shutdown(Control& control, const Call& call);

}  // namespace weir::admin
