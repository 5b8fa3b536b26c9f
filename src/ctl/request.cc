#include "ctl/request.h"

#include <fmt/format.h>

namespace weir::ctl {
namespace {

// All but the unreserved characters of RFC 3986.
std::string escaped(std::string_view text) {
  constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string result;
  for (const char byte : text) {
    if (unreserved.find(byte) != std::string_view::npos) {
      result += byte;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return result;
}

}  // namespace

std::string path(std::initializer_list<std::string_view> parts) {
  std::string text = "/v1";
  for (const std::string_view part : parts) text += "/" + escaped(part);
  return text;
}

std::string query(const std::vector<std::pair<std::string_view, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    text += text.empty() ? '?' : '&';
    text += fmt::format("{}={}", name, escaped(value));
  }
  return text;
}

}  // namespace weir::ctl
