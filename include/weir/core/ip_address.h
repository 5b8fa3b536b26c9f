#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::core {

// An IPv4 or IPv6 address as a value: no zone, no port, nothing that depends on this machine.
class IpAddress {
 public:
  using V4 = std::array<std::uint8_t, 4>;
  using V6 = std::array<std::uint8_t, 16>;

  IpAddress() = default;  // 0.0.0.0
  explicit IpAddress(const V4& bytes);
  explicit IpAddress(const V6& bytes) : bytes_(bytes), is_v6_(true) {}

  // Nothing but the address: no spaces, brackets, zone, leading zeros or short forms of IPv4. IPv6
  // may end in dotted numbers.
  static std::optional<IpAddress> parse(std::string_view text);

  bool is_v4() const { return !is_v6_; }
  bool is_v6() const { return is_v6_; }
  // In network order, 4 or 16 of them.
  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), is_v6_ ? 16U : 4U}; }

  // ::ffff:a.b.c.d of an IPv4 address; an IPv6 address itself.
  IpAddress mapped() const;
  // The IPv4 address in ::ffff:a.b.c.d; any other address itself.
  IpAddress unmapped() const;

  // IPv6 in the shortest form (RFC 5952), always as groups of hexadecimal digits: the PROXY
  // protocol knows no dotted numbers there, not even in a mapped address.
  std::string text() const;

  bool operator==(const IpAddress&) const = default;

 private:
  V6 bytes_{};  // of IPv4 the first four, the others zero
  bool is_v6_ = false;
};

// An address with a port, of either family.
struct IpEndpoint {
  IpAddress address;
  std::uint16_t port = 0;

  bool operator==(const IpEndpoint&) const = default;
};

}  // namespace weir::core
