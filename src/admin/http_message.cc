#include "admin/http_message.h"

#include <fmt/format.h>

#include <optional>

#include "weir/core/json.h"

namespace weir::admin {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit(text[i + 1]);
    const int low = digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

// Takes what comes before the next `separator` off the front, and the separator with it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

}  // namespace

HttpResponse error_response(int status, std::string_view code, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = fmt::format(R"({{"error":{{"code":"{}","message":"{}"}}}})"
                              "\n",
                              code, core::json_escaped(message));
  return response;
}

bool split_target(HttpRequest& request) {
  std::string_view rest = request.target;
  std::string_view path = take_until(rest, '?');
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  for (bool more = true; more;) {
    more = path.find('/') != std::string_view::npos;
    auto segment = decoded(take_until(path, '/'));
    if (!segment) return false;
    request.path.push_back(std::move(*segment));
  }
  while (!rest.empty()) {
    std::string_view pair = take_until(rest, '&');
    if (pair.empty()) continue;
    auto key = decoded(take_until(pair, '='));
    auto value = decoded(pair);
    if (!key || !value) return false;
    request.query.emplace_back(std::move(*key), std::move(*value));
  }
  return true;
}

}  // namespace weir::admin
