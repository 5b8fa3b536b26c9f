#include "weir/core/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace weir::core {
namespace {

constexpr std::size_t kUnixPathLimit = 107;  // sun_path has 108 bytes, one of them the NUL
constexpr std::size_t kNameLimit = 253;      // RFC 1035, without the final dot
constexpr std::size_t kLabelLimit = 63;
constexpr std::size_t kZoneLimit = 15;  // IFNAMSIZ without the NUL

// Not <cctype>: what an address is must not depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_name_character(char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; }
bool is_zone_character(char c) { return is_name_character(c) || c == '.'; }

EndpointResult refuse(std::string error) { return {.endpoint = {}, .error = std::move(error)}; }

// Empty when `text` is a port. from_chars and friends take `+80` or `080`.
std::string parse_port(std::string_view text, std::uint16_t& port) {
  constexpr std::string_view allowed = "(a decimal number from 1 to 65535)";
  if (text.empty()) return fmt::format("the port is missing {}", allowed);
  if (text.size() > 5 || text.front() == '0' || !std::all_of(text.begin(), text.end(), is_digit)) {
    return fmt::format("'{}' is not a port {}", text, allowed);
  }
  unsigned value = 0;
  for (const char c : text) value = value * 10 + static_cast<unsigned>(c - '0');
  if (value > 65535) return fmt::format("'{}' is not a port {}", text, allowed);
  port = static_cast<std::uint16_t>(value);
  return {};
}

// The literal in its shortest form. inet_pton takes a C string and would not see what follows a
// NUL; it refuses the leading zeros and short forms that inet_aton takes.
std::optional<std::string> canonical(int family, std::string_view literal) {
  if (literal.find('\0') != std::string_view::npos) return std::nullopt;
  std::array<unsigned char, sizeof(in6_addr)> address{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_pton(family, std::string(literal).c_str(), address.data()) != 1) return std::nullopt;
  if (inet_ntop(family, address.data(), text.data(), text.size()) == nullptr) return std::nullopt;
  return std::string(text.data());
}

bool is_link_local(const std::string& host) {
  in6_addr address{};
  inet_pton(AF_INET6, host.c_str(), &address);
  return IN6_IS_ADDR_LINKLOCAL(&address);
}

// `text` is an IPv6 literal without brackets, with a zone perhaps.
EndpointResult parse_ipv6(std::string_view text) {
  const std::size_t percent = text.find('%');
  const std::string_view literal = text.substr(0, percent);
  std::optional<std::string> host = canonical(AF_INET6, literal);
  if (!host) return refuse(fmt::format("'{}' is not an IPv6 address", literal));

  Endpoint endpoint{.kind = Endpoint::Kind::ipv6, .host = *std::move(host), .zone = {}, .port = 0};
  const bool link_local = is_link_local(endpoint.host);
  if (percent == std::string_view::npos) {
    if (!link_local) return {.endpoint = std::move(endpoint), .error = {}};
    return refuse(fmt::format("{} is link-local and needs a zone ({}%eth0)", literal, literal));
  }
  endpoint.zone = text.substr(percent + 1);
  if (endpoint.zone.empty() || endpoint.zone.size() > kZoneLimit ||
      !std::all_of(endpoint.zone.begin(), endpoint.zone.end(), is_zone_character)) {
    return refuse(fmt::format("'{}' is not a zone (the name of an interface, 1 to {} characters)",
                              endpoint.zone, kZoneLimit));
  }
  if (!link_local && endpoint.host != "::1") {
    return refuse(fmt::format("{} takes no zone (link-local and loopback do)", literal));
  }
  return {.endpoint = std::move(endpoint), .error = {}};
}

// Systems disagree whether `10.1`, `1.2.3.4.5` or `0x7f.1` are names or addresses; all of them have
// a number as the last label.
bool ends_in_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (last.starts_with("0x") || last.starts_with("0X")) {
    return std::all_of(last.begin() + 2, last.end(), is_hex);
  }
  return std::all_of(last.begin(), last.end(), is_digit);
}

// Empty when `host` is a name.
std::string check_name(std::string_view host) {
  std::string_view rest = host;
  if (rest.ends_with('.')) rest.remove_suffix(1);
  if (rest.empty() || rest.size() > kNameLimit) {
    return fmt::format("'{}' is not a host name (1 to {} characters)", host, kNameLimit);
  }
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view label = rest.substr(0, dot);
    if (label.empty() || label.size() > kLabelLimit ||
        !std::all_of(label.begin(), label.end(), is_name_character)) {
      return fmt::format(
          "'{}' is not a host name (labels of 1 to {} letters, digits, '-' or '_' with dots "
          "between)",
          host, kLabelLimit);
    }
    if (dot == std::string_view::npos) return {};
    rest.remove_prefix(dot + 1);
  }
}

EndpointResult parse_host(std::string_view host) {
  if (host.find(':') != std::string_view::npos) {
    return refuse("an IPv6 address needs brackets ([::1]:5432)");
  }
  if (std::optional<std::string> literal = canonical(AF_INET, host)) {
    return {.endpoint = {Endpoint::Kind::ipv4, *std::move(literal), {}, 0}, .error = {}};
  }
  if (std::string error = check_name(host); !error.empty()) return refuse(std::move(error));
  if (ends_in_number(host)) {
    return refuse(
        fmt::format("'{}' is not an IPv4 address (four numbers without leading zeros)", host));
  }
  return {.endpoint = {Endpoint::Kind::name, std::string(host), {}, 0}, .error = {}};
}

EndpointResult parse_unix(std::string_view path) {
  if (!path.starts_with('/')) return refuse("a unix socket needs an absolute path (unix:/run/x)");
  if (path.size() > kUnixPathLimit) {
    return refuse(fmt::format("the path has {} bytes (a unix socket's has at most {})", path.size(),
                              kUnixPathLimit));
  }
  if (path.find('\0') != std::string_view::npos) return refuse("the path holds a NUL");
  return {.endpoint = {Endpoint::Kind::unix_path, std::string(path), {}, 0}, .error = {}};
}

EndpointResult with_port(EndpointResult result, std::string_view port) {
  if (result) result.error = parse_port(port, result.endpoint.port);
  if (!result) result.endpoint = {};
  return result;
}

}  // namespace

std::string Endpoint::text() const {
  switch (kind) {
    case Kind::unix_path:
      return "unix:" + host;
    case Kind::ipv6: {
      const std::string literal = zone.empty() ? host : host + '%' + zone;
      return port == 0 ? literal : fmt::format("[{}]:{}", literal, port);
    }
    case Kind::ipv4:
    case Kind::name:
      break;
  }
  return port == 0 ? host : fmt::format("{}:{}", host, port);
}

EndpointResult parse_endpoint(std::string_view text) {
  constexpr std::string_view unix_scheme = "unix:";
  if (text.starts_with(unix_scheme)) return parse_unix(text.substr(unix_scheme.size()));

  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse("the closing bracket is missing ([::1]:5432)");
    if (text.substr(end + 1, 1) != ":") return refuse("the port is missing ([::1]:5432)");
    return with_port(parse_ipv6(text.substr(1, end - 1)), text.substr(end + 2));
  }

  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return refuse("the port is missing (HOST:PORT, [IPV6]:PORT or unix:/PATH)");
  }
  return with_port(parse_host(text.substr(0, colon)), text.substr(colon + 1));
}

EndpointResult parse_source_address(std::string_view text) {
  if (std::optional<std::string> literal = canonical(AF_INET, text)) {
    return {.endpoint = {Endpoint::Kind::ipv4, *std::move(literal), {}, 0}, .error = {}};
  }
  if (text.find(':') != std::string_view::npos && !text.starts_with('[')) return parse_ipv6(text);
  return refuse(
      fmt::format("'{}' is not an address (IPv4 or IPv6, without brackets or port)", text));
}

}  // namespace weir::core
