#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "admin/http_message.h"
#include "weir/admin/control.h"

namespace weir::admin {

// A request that cannot be answered as asked: thrown by an endpoint, answered by the router in the
// one form that errors have.
class ApiError : public std::runtime_error {
 public:
  ApiError(int status, std::string_view code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(code) {}

  HttpResponse response() const { return error_response(status_, code_, what()); }

 private:
  int status_;
  std::string_view code_;  // of a literal
};

[[noreturn]] void bad_request(const std::string& message);
[[noreturn]] void not_found(const std::string& message);
[[noreturn]] void conflict(const std::string& message);

// A request that has found its endpoint.
struct Call {
  const HttpRequest& request;
  std::vector<std::string> names;  // what stood in place of the route's `*`, in order

  std::optional<std::string> query(std::string_view key) const;
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // `/v1/pools/*`; a `*` is one segment that is not empty
  std::string_view keys;     // of the query, separated by spaces; others are an error
  HttpResponse (*answer)(Control& control, const Call& call);
};

// Finds the endpoint of a request. Knows nothing of what they do.
class Router {
 public:
  // The control outlives the router.
  Router(Control& control, std::vector<Route> routes)
      : control_(control), routes_(std::move(routes)) {}

  HttpResponse answer(const HttpRequest& request) const;

 private:
  HttpResponse find(const HttpRequest& request) const;

  Control& control_;
  std::vector<Route> routes_;
};

// Everything, for the unix socket; and what may be seen by whoever can reach `http.listen`: nothing
// that changes anything, and no client's address.
std::vector<Route> all_routes();
std::vector<Route> read_only_routes();

}  // namespace weir::admin
