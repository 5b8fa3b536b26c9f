#include "config/overlap.h"

#include "tests/config/expect_problem.h"

namespace weir::config {
namespace {

// Each argument is the list of one listener.
std::string binds(const std::vector<std::string>& lists) {
  std::string lines;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lines += "  - {name: l" + std::to_string(i) + ", pool: p, bind: [" + lists[i] + "]}\n";
  }
  return with_listeners(lines);
}

bool overlaps(const std::vector<std::string>& lists) {
  const LoadResult result = load_text(binds(lists));
  for (const Problem& problem : result.problems) {
    CHECK(problem.message.find(" overlaps ") != std::string::npos);
  }
  return !result.problems.empty();
}

}  // namespace

TEST_CASE("CFG-01: two listeners at one address") {
  check_refused({"same", binds({"\"127.0.0.1:5\"", "\"127.0.0.1:5\""}), 4, 32,
                 "listeners[1].bind[0]",
                 "\"127.0.0.1:5\" overlaps 127.0.0.1:5 of listeners[0].bind[0] on line 3"});
  CHECK(overlaps({"\"127.0.0.1:5\", \"127.0.0.1:5\""}));
  CHECK(overlaps({"\"[::1]:5\"", "\"[0:0::1]:5\""}));
  CHECK(overlaps({"\"[::1%lo]:5\"", "\"[::1%lo]:5\""}));
  CHECK_FALSE(overlaps({"\"127.0.0.1:5\"", "\"127.0.0.2:5\", \"127.0.0.1:6\", \"[::1]:5\""}));
}

TEST_CASE("CFG-01: 0.0.0.0 and [::] overlap every address of their family and port") {
  CHECK(overlaps({"\"0.0.0.0:5\"", "\"127.0.0.1:5\""}));
  CHECK(overlaps({"\"127.0.0.1:5\"", "\"0.0.0.0:5\""}));
  CHECK(overlaps({"\"[::]:5\"", "\"[::1]:5\""}));
  CHECK(overlaps({"\"[::1]:5\"", "\"[::]:5\""}));
  CHECK_FALSE(overlaps({"\"0.0.0.0:5\"", "\"127.0.0.1:6\", \"[::1]:5\""}));
}

TEST_CASE("[::] alone takes IPv4 too and overlaps it") {
  CHECK(overlaps({"\"[::]:5\"", "\"127.0.0.1:5\""}));
  CHECK(overlaps({"\"127.0.0.1:5\"", "\"[::]:5\""}));
  CHECK(overlaps({"\"127.0.0.1:5\", \"[::]:5\""}));
  CHECK(overlaps({"\"0.0.0.0:5\"", "\"[::]:5\""}));
  CHECK(overlaps({"\"[::]:5\"", "\"0.0.0.0:5\""}));
  CHECK_FALSE(overlaps({"\"[::]:5\"", "\"127.0.0.1:6\""}));
}

TEST_CASE("[::] beside 0.0.0.0 in one listener is for IPv6 only") {
  CHECK_FALSE(overlaps({"\"0.0.0.0:5\", \"[::]:5\""}));
  CHECK_FALSE(overlaps({"\"[::]:5\", \"0.0.0.0:5\""}));
  CHECK(overlaps({"\"0.0.0.0:6\", \"[::]:5\"", "\"127.0.0.1:5\""}));
  // Two listeners on one port: the second address of the second is covered by the first's.
  CHECK(overlaps({"\"0.0.0.0:5\", \"[::]:5\"", "\"127.0.0.1:5\""}));
  CHECK(overlaps({"\"0.0.0.0:5\", \"[::]:5\"", "\"[::1]:5\""}));
}

TEST_CASE("an IPv4 address written as IPv6 is the same address") {
  CHECK(overlaps({"\"127.0.0.1:5\"", "\"[::ffff:127.0.0.1]:5\""}));
  CHECK(overlaps({"\"0.0.0.0:5\"", "\"[::ffff:127.0.0.1]:5\""}));
  CHECK(overlaps({"\"[::ffff:0.0.0.0]:5\"", "\"127.0.0.1:5\""}));
  CHECK_FALSE(overlaps({"\"[::ffff:127.0.0.1]:5\"", "\"[::1]:5\""}));
}

TEST_CASE("two listeners at one unix path") {
  CHECK(overlaps({"\"unix:/run/a\"", "\"unix:/run/a\""}));
  CHECK(overlaps({"\"unix:/run/a\"", "\"unix:/run//b/../a\""}));
  CHECK_FALSE(overlaps({"\"unix:/run/a\"", "\"unix:/run/b\""}));
}

TEST_CASE("many addresses are checked in no time") {
  std::string list;
  for (int i = 0; i < 60000; ++i) {
    if (i > 0) list += ", ";
    list += "\"127." + std::to_string(i / 65536 + 1) + "." + std::to_string(i / 256 % 256) + "." +
            std::to_string(i % 256) + ":5\"";
  }
  CHECK_FALSE(overlaps({list}));
  CHECK(overlaps({list + ", \"0.0.0.0:5\""}));
}

}  // namespace weir::config
