#include "config/addresses.h"

#include "tests/config/expect_problem.h"

namespace weir::config {
namespace {

void check_bind_refused(const std::string& address, const char* message) {
  check_refused({address.c_str(),
                 with_listeners("  - {name: l, pool: p, bind: [\"" + address + "\"]}\n"), 3, 31,
                 "listeners[0].bind[0]", message});
}

void check_backend_refused(const std::string& address, const char* message) {
  check_refused({address.c_str(),
                 with_pool("  - {name: p, backends: [{name: b, address: \"" + address + "\"}]}\n"),
                 3, 45, "pools[0].backends[0].address", message});
}

}  // namespace

TEST_CASE("NET-02: what systems disagree about is refused at load, to bind and to dial") {
  for (const char* address : {"[fe80::1%]:5", "fe80::1", "[fe80::1]:5", "::1:8080", "[::1]:0",
                              "[::1]:65536", "127.0.0.1:+80", "127.0.0.1:080", "127.0.0.1",
                              "127.0.0.01:5", "unix:run/x", "", ":5", "127.0.0.1:5 "}) {
    check_bind_refused(address, "is not an address: ");
    check_backend_refused(address, "is not an address: ");
  }
}

TEST_CASE("NET-02: a zone must be an interface of this machine") {
  check_bind_refused("[fe80::1%nosuchif]:5", "names a zone that no interface here has: nosuchif");
  check_backend_refused("[fe80::1%nosuchif]:5", "names a zone that no interface here has");
  check_refused({"source", small_file("source_address: \"fe80::1%nosuchif\""), 8, 21,
                 "pools[0].source_address", "names a zone that no interface here has"});
  const Configuration configuration =
      must_load(with_listeners("  - {name: l, pool: p, bind: [\"[::1%lo]:5\"]}\n"));
  CHECK(configuration.listeners[0].bind[0].text() == "[::1%lo]:5");
}

TEST_CASE("a listener binds addresses and never names") {
  check_bind_refused("localhost:5", "is a name, and weir listens at addresses only");
  const Configuration configuration =
      must_load(with_pool("  - {name: p, backends: [{name: b, address: \"localhost:5\"}]}\n"));
  CHECK(configuration.pools[0].backends[0].address.kind == core::Endpoint::Kind::name);
}

TEST_CASE("a source address has no port, and may be empty for none") {
  check_refused({"port", small_file("source_address: \"10.0.0.1:5\""), 8, 21,
                 "pools[0].source_address", "is not an address"});
  check_refused({"name", small_file("source_address: localhost"), 8, 21, "pools[0].source_address",
                 "is not an address"});
  CHECK_FALSE(must_load(small_file("source_address: \"\"")).pools[0].source_address);
  const auto source = must_load(small_file("source_address: 10.0.0.1")).pools[0].source_address;
  REQUIRE(source);
  CHECK(source->host == "10.0.0.1");
}

TEST_CASE("a backend of the other family than the source address is refused") {
  const auto pool = [](const std::string& source, const std::string& address) {
    return with_pool("  - {name: p, source_address: \"" + source +
                     "\", backends: [{name: b, address: \"" + address + "\"}]}\n");
  };
  const auto refused = load_text(pool("10.0.0.1", "[::1]:5"));
  REQUIRE(refused.problems.size() == 1);
  CHECK(refused.problems[0].path == "pools[0].backends[0].address");
  CHECK(refused.problems[0].message ==
        "cannot be dialled from source_address 10.0.0.1 (allowed: an IPv4 address)");
  CHECK(load_text(pool("fd00::1", "10.0.0.2:5")).problems.size() == 1);
  for (const char* fits : {"10.0.0.2:5", "db.test:5", "unix:/s"}) {
    CAPTURE(fits);
    CHECK(load_text(pool("10.0.0.1", fits)).problems.empty());
  }
}

}  // namespace weir::config
