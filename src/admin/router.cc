#include "admin/router.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir::admin {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// What stands in place of the `*`; none = the path is another one.
std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& path) {
  const std::vector<std::string_view> parts = split(pattern.substr(1), '/');
  if (parts.size() != path.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "*" && !path[i].empty()) {
      names.push_back(path[i]);
    } else if (parts[i] != path[i]) {
      return std::nullopt;
    }
  }
  return names;
}

void check_keys(const Route& route, const HttpRequest& request) {
  const std::vector<std::string_view> known = split(route.keys, ' ');
  for (auto each = request.query.begin(); each != request.query.end(); ++each) {
    const std::string& key = each->first;
    if (key.empty() || std::find(known.begin(), known.end(), key) == known.end()) {
      bad_request(route.keys.empty()
                      ? fmt::format("unknown parameter {}; {} takes none", key, route.pattern)
                      : fmt::format("unknown parameter {}; {} takes {}", key, route.pattern,
                                    fmt::join(known, ", ")));
    }
    const bool again = std::any_of(request.query.begin(), each,
                                   [&key](const auto& earlier) { return earlier.first == key; });
    if (again) bad_request("the parameter " + key + " is given twice");
  }
}

}  // namespace

void bad_request(const std::string& message) { throw ApiError(400, "bad_request", message); }
void not_found(const std::string& message) { throw ApiError(404, "not_found", message); }
void conflict(const std::string& message) { throw ApiError(409, "conflict", message); }

std::optional<std::string> Call::query(std::string_view key) const {
  for (const auto& [name, value] : request.query) {
    if (name == key) return value;
  }
  return std::nullopt;
}

HttpResponse Router::answer(const HttpRequest& request) const {
  try {
    return find(request);
  } catch (const ApiError& error) {
    return error.response();
  }
}

HttpResponse Router::find(const HttpRequest& request) const {
  std::vector<std::string_view> methods;
  for (const Route& route : routes_) {
    auto names = match(route.pattern, request.path);
    if (!names) continue;
    if (route.method == request.method) {
      check_keys(route, request);
      return route.answer(control_, {request, std::move(*names)});
    }
    methods.push_back(route.method);
    if (route.method == "GET") methods.push_back("HEAD");
  }
  if (!methods.empty()) {
    HttpResponse response = error_response(405, "method_not_allowed",
                                           fmt::format("{} is not for this path; it takes {}",
                                                       request.method, fmt::join(methods, ", ")));
    response.allow = fmt::format("{}", fmt::join(methods, ", "));
    return response;
  }
  std::vector<std::string_view> paths;
  for (const Route& route : routes_) {
    if (paths.empty() || paths.back() != route.pattern) paths.push_back(route.pattern);
  }
  not_found(fmt::format("no such path; paths are {}", fmt::join(paths, " ")));
}

}  // namespace weir::admin
