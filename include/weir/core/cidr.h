#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/core/ip_address.h"

namespace weir::core {

// A block of addresses: 10.0.0.0/8, 2001:db8::/32; an address alone is a block of one.
class Cidr {
 public:
  // Nothing when it is none. An address with bits behind the prefix is taken for a slip and is none
  // either; `error` says which of the two.
  static std::optional<Cidr> parse(std::string_view text, std::string& error);

  // An IPv4 address within ::ffff:0:0/96 is the IPv4 address that it is.
  bool contains(const IpAddress& address) const;
  std::string text() const;

  bool operator==(const Cidr&) const = default;

 private:
  Cidr(const IpAddress& network, unsigned bits) : network_(network), bits_(bits) {}

  IpAddress network_;
  unsigned bits_ = 0;
};

// Who may connect: whoever is in `allow`, or anybody if that is empty, but nobody in `deny`.
struct AccessList {
  std::vector<Cidr> allow;
  std::vector<Cidr> deny;

  bool admits(const IpAddress& address) const;
  bool empty() const { return allow.empty() && deny.empty(); }
  bool operator==(const AccessList&) const = default;
};

}  // namespace weir::core
