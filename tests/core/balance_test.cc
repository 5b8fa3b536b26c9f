#include "weir/core/balance.h"

#include <doctest/doctest.h>

using namespace weir::core;

TEST_CASE("every way to balance parses back from its name") {
  for (const Balance balance : {Balance::round_robin, Balance::least_connections,
                                Balance::random_two, Balance::source_hash, Balance::first}) {
    CAPTURE(name(balance));
    CHECK(parse_balance(name(balance)) == balance);
  }
  CHECK(name(Balance::round_robin) == "round_robin");
  CHECK(name(Balance::least_connections) == "least_connections");
  CHECK(name(Balance::random_two) == "random_two");
  CHECK(name(Balance::source_hash) == "source_hash");
  CHECK(name(Balance::first) == "first");
}

TEST_CASE("a word that is no way to balance is refused, whatever its case or spaces") {
  for (const char* text : {"", "roundrobin", "Round_Robin", "first ", "least"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_balance(text).has_value());
  }
}
