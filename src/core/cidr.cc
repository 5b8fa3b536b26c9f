#include "weir/core/cidr.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace weir::core {
namespace {

// The first `bits` of both are the same.
bool agree(const IpAddress& a, const IpAddress& b, unsigned bits) {
  const auto left = a.bytes();
  const auto right = b.bytes();
  const std::size_t whole = bits / 8;
  if (!std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(whole), right.begin())) {
    return false;
  }
  const unsigned rest = bits % 8;
  return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0;
}

// The address with nothing behind its first `bits`.
IpAddress masked(const IpAddress& address, unsigned bits) {
  const auto mask = [bits](auto bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::size_t begins = 8 * i;
      if (begins >= bits) {
        bytes[i] = 0;
      } else if (begins + 8 > bits) {
        bytes[i] = static_cast<std::uint8_t>(bytes[i] & ~(0xffU >> (bits - begins)));
      }
    }
    return IpAddress(bytes);
  };
  const auto bytes = address.bytes();
  if (address.is_v4()) return mask(IpAddress::V4{bytes[0], bytes[1], bytes[2], bytes[3]});
  IpAddress::V6 all{};
  std::copy(bytes.begin(), bytes.end(), all.begin());
  return mask(all);
}

bool any(const std::vector<Cidr>& blocks, const IpAddress& address) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&address](const Cidr& block) { return block.contains(address); });
}

}  // namespace

std::optional<Cidr> Cidr::parse(std::string_view text, std::string& error) {
  const std::size_t slash = text.find('/');
  const std::optional<IpAddress> address = IpAddress::parse(text.substr(0, slash));
  error = "is neither an address nor a block of addresses";
  if (!address) return std::nullopt;
  const unsigned most = address->is_v4() ? 32 : 128;
  unsigned bits = most;
  if (slash != std::string_view::npos) {
    const std::string_view length = text.substr(slash + 1);
    const auto [end, failed] = std::from_chars(length.data(), length.data() + length.size(), bits);
    const bool number = failed == std::errc() && end == length.data() + length.size() &&
                        (length == "0" || length.front() != '0');
    if (!number || bits > most) return std::nullopt;
  }
  const Cidr block(masked(*address, bits), bits);
  if (block.network_ != *address) {
    error = fmt::format("has bits behind its prefix: {} is the block it is in", block.text());
    return std::nullopt;
  }
  error.clear();
  return block;
}

bool Cidr::contains(const IpAddress& address) const {
  const IpAddress plain = address.unmapped();
  return plain.is_v4() == network_.is_v4() && agree(plain, network_, bits_);
}

std::string Cidr::text() const { return fmt::format("{}/{}", network_.text(), bits_); }

bool AccessList::admits(const IpAddress& address) const {
  return (allow.empty() || any(allow, address)) && !any(deny, address);
}

}  // namespace weir::core
