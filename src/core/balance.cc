#include "weir/core/balance.h"

namespace weir::core {

std::string_view name(Balance balance) {
  switch (balance) {
    case Balance::round_robin:
      return "round_robin";
    case Balance::least_connections:
      return "least_connections";
    case Balance::random_two:
      return "random_two";
    case Balance::source_hash:
      return "source_hash";
    case Balance::first:
      return "first";
  }
  return {};
}

std::optional<Balance> parse_balance(std::string_view text) {
  for (const Balance balance : {Balance::round_robin, Balance::least_connections,
                                Balance::random_two, Balance::source_hash, Balance::first}) {
    if (text == name(balance)) return balance;
  }
  return std::nullopt;
}

}  // namespace weir::core
