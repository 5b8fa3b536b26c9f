#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::admin {

// One HTTP request, whole. HEAD arrives as GET: whoever answers need not know.
struct HttpRequest {
  std::string method;
  std::string target;             // as it came: `/v1/why?pool=a`
  std::vector<std::string> path;  // decoded, `/` and `/v1/` are one empty segment at the end
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  std::string body;                                        // empty for GET, whatever came
};

struct HttpResponse {
  static constexpr std::string_view kJson = "application/json";
  static constexpr std::string_view kText = "text/plain; charset=utf-8";
  static constexpr std::string_view kHtml = "text/html; charset=utf-8";

  int status = 200;
  std::string body;
  std::string_view type = kJson;  // outlives the response
  std::string_view policy;        // Content-Security-Policy; outlives the response; empty = none
  std::string allow;              // of a 405: the methods that there are
  bool last = false;              // the connection is closed after it
};

// An error in the one form that the API has: {"error":{"code":...,"message":...}}.
HttpResponse error_response(int status, std::string_view code, std::string_view message);

// Splits a request's target and undoes its percent-encoding, each part after the split: `%2F` is a
// character of a name. A `+` is a plus. False for a `%` that two hexadecimal digits do not follow.
[[nodiscard]] bool split_target(HttpRequest& request);

}  // namespace weir::admin
