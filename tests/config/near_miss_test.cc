#include "config/near_miss.h"

#include <doctest/doctest.h>

namespace weir::config {

TEST_CASE("a key with a slip of the finger is recognised") {
  const std::vector<std::string_view> keys{"name", "address", "weight", "priority", "max_active"};
  CHECK(near_miss("max_actve", keys) == "max_active");
  CHECK(near_miss("max_actives", keys) == "max_active");
  CHECK(near_miss("wieght", keys) == "weight");
  CHECK(near_miss("adress", keys) == "address");
  CHECK(near_miss("nmae", keys) == "name");
}

TEST_CASE("a key that means something else is not taken for another") {
  const std::vector<std::string_view> keys{"name", "idle", "address"};
  CHECK(near_miss("tls", keys).empty());
  CHECK(near_miss("host", keys).empty());
  CHECK(near_miss("", keys).empty());
  CHECK(near_miss("address_of_the_backend", keys).empty());
  CHECK(near_miss("nxyz", keys).empty());
  CHECK(near_miss("noze", keys).empty());  // half of it is another word
}

}  // namespace weir::config
