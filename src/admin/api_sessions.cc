#include <fmt/format.h>

#include <algorithm>

#include "admin/endpoints.h"
#include "admin/lookup.h"

namespace weir::admin {
namespace {

constexpr std::size_t kUsualLimit = 10'000;  // 3 MB of text
constexpr std::size_t kMostLimit = 1'000'000;

// A filter that names nothing there is would show an empty list, which looks like good news.
proxy::SessionFilter filter(const Snapshot& snapshot, const Call& call) {
  proxy::SessionFilter made;
  if (const auto listener = call.query("listener")) {
    made.listener = find_listener(snapshot, *listener).name;
  }
  if (const auto pool = call.query("pool")) made.pool = find_pool(snapshot, *pool).name;
  const auto backend = call.query("backend");
  if (!backend) return made;
  const BackendPath path = parse_backend_path(*backend);
  if (!path.pool.empty()) {
    if (!made.pool.empty() && made.pool != path.pool) {
      bad_request(fmt::format("pool={} and backend={} are two pools", made.pool, *backend));
    }
    made.pool = find_pool(snapshot, path.pool).name;
  }
  const auto has = [&path](const Snapshot::Pool& pool) {
    return std::any_of(pool.backends.begin(), pool.backends.end(),
                       [&path](const auto& each) { return each.name == path.backend; });
  };
  if (!made.pool.empty()) {
    find_backend(find_pool(snapshot, made.pool), path.backend);
  } else if (std::none_of(snapshot.pools.begin(), snapshot.pools.end(), has)) {
    not_found(fmt::format("no pool has a backend named {}", path.backend));
  }
  made.backend = path.backend;
  return made;
}

std::uint64_t id_of(const Call& call) {
  return parse_number("a session's id", call.names[0], 0, UINT64_MAX);
}

[[noreturn]] void no_session(std::uint64_t id) {
  not_found(fmt::format("no session has the id {}, or not any more", id));
}

HttpResponse closed(std::size_t count) { return json_response({{"closed", count}}); }

}  // namespace

HttpResponse get_sessions(Control& control, const Call& call) {
  const auto limit = call.query("limit");
  const std::uint64_t most = limit ? parse_number("limit", *limit, 1, kMostLimit) : kUsualLimit;
  HttpResponse response;
  response.body = to_json(control.sessions(filter(control.snapshot(), call), most));
  response.body += '\n';
  return response;
}

HttpResponse get_session(Control& control, const Call& call) {
  const std::uint64_t id = id_of(call);
  const auto session = control.session(id);
  if (!session) no_session(id);
  HttpResponse response;
  append_json(response.body, *session);
  response.body += '\n';
  return response;
}

HttpResponse delete_session(Control& control, const Call& call) {
  const std::uint64_t id = id_of(call);
  if (!control.kill(id)) no_session(id);
  return closed(1);
}

// Names its backend in full, so that a word too few ends nobody else's sessions.
HttpResponse delete_sessions(Control& control, const Call& call) {
  const auto named = call.query("backend");
  const BackendPath path = named ? parse_backend_path(*named) : BackendPath();
  if (path.pool.empty()) bad_request("which sessions? /v1/sessions/ID or ?backend=POOL/BACKEND");
  const Snapshot snapshot = control.snapshot();
  find_backend(find_pool(snapshot, path.pool), path.backend);
  return closed(control.kill(path.pool, path.backend));
}

}  // namespace weir::admin
