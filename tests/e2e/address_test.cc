#include <doctest/doctest.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/port.h"
#include "tests/e2e/program.h"
#include "tests/e2e/scene.h"
#include "tests/e2e/service.h"

namespace weir::e2e {
namespace {

enum class Place { bind, backend };

constexpr int kAddressLine = 4;

// The address stands alone on its line, at column 7 of a bind and at column 16 of a backend.
std::string yaml(Place place, const std::string& address) {
  if (place == Place::bind) {
    return fmt::format(R"(listeners:
  - name: front
    bind:
      - "{}"
    pool: servers
pools: [{{name: servers, resilience: {{max_fails: 2}},
         backends: [{{name: b1, address: "127.0.0.1:1"}}]}}]
)",
                       address) +
           "\n";
  }
  return fmt::format(R"(listeners: [{{name: front, bind: ["127.0.0.1:2"], pool: servers}}]
pools:
  - {{name: servers, backends: [{{name: b1,
      address: "{}"}}], resilience: {{max_fails: 2}}}}
)",
                     address);
}

Ended check(Place place, const std::string& address, const Folder& folder) {
  write_file(folder.file("weir.yaml"), yaml(place, address));
  return run_weir({"-c", folder.file("weir.yaml"), "--check"});
}

void is_refused(const std::string& address, const std::string& about) {
  const Folder folder;
  for (const Place place : {Place::bind, Place::backend}) {
    const Ended ended = check(place, address, folder);
    INFO(address << " as " << (place == Place::bind ? "bind" : "backend") << ": " << ended.errors);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    const std::string where =
        place == Place::bind ? "listeners[0].bind[0]" : "pools[0].backends[0].address";
    const int column = place == Place::bind ? 9 : 16;
    CHECK(ended.errors.starts_with(
        fmt::format("{}:{}:{}: {}: ", folder.file("weir.yaml"), kAddressLine, column, where)));
    CHECK(count_of(ended.errors, about) >= 1);
    CHECK(count_of(ended.errors, "\n") == 1);
  }
}

void is_taken(const std::string& address) {
  const Folder folder;
  for (const Place place : {Place::bind, Place::backend}) {
    const Ended ended = check(place, address, folder);
    INFO(address << ": " << ended.errors);
    CHECK(ended.code == 0);
    CHECK(ended.errors.empty());
  }
}

TEST_CASE("NET-02: addresses with zones that are right are taken") {
  is_taken("[::1%lo]:5432");
  is_taken("[::1]:5432");
  is_taken("[::ffff:127.0.0.1]:5432");
  is_taken("[fe80::1%lo]:5432");
}

TEST_CASE("NET-02: unknown, empty and missing zones are refused with the line") {
  is_refused("[fe80::1%nosuchif]:5432", "nosuchif");
  is_refused("[::1%nosuchif]:5432", "nosuchif");
  is_refused("[fe80::1%]:5432", "zone");
  is_refused("[fe80::1%1]:5432", "zone");
  is_refused("[fe80::1]:5432", "needs a zone");
  is_refused("[2001:db8::1%lo]:5432", "takes no zone");
}

TEST_CASE("NET-02: IPv6 without brackets is refused") {
  is_refused("::1:8080", "brackets");
  is_refused("fe80::1", "brackets");
  is_refused("[::1]", "port is missing");
  is_refused("[::1:8080", "bracket");
}

TEST_CASE("NET-02: ports that systems read differently are refused") {
  for (const char* port : {"0", "65536", "+80", "080", "-1", "8o", "0x50", " 80", "80 ", ""}) {
    is_refused(fmt::format("127.0.0.1:{}", port), "port");
    is_refused(fmt::format("[::1]:{}", port), "port");
  }
}

TEST_CASE("NET-02: every wrong address of a file is told in one go") {
  const Folder folder;
  write_file(folder.file("weir.yaml"), R"(listeners:
  - name: front
    bind: ["::1:8080", "127.0.0.1:0"]
    pool: servers
pools:
  - name: servers
    source_address: "[::1]"
    resilience: {max_fails: 2}
    backends:
      - {name: b1, address: "[fe80::1]:80"}
)");
  const Ended ended = run_weir({"-c", folder.file("weir.yaml"), "--check"});
  CHECK(ended.code == 2);
  CHECK(count_of(ended.errors, "\n") == 4);
  for (const char* place :
       {":3:12: listeners[0].bind[0]: ", ":3:24: listeners[0].bind[1]: ",
        ":7:21: pools[0].source_address: ", ":10:29: pools[0].backends[0].address: "}) {
    INFO(place << " in\n" << ended.errors);
    CHECK(count_of(ended.errors, folder.file("weir.yaml") + place) == 1);
  }
}

TEST_CASE("NET-02: a bind and a backend with a zone work, and logs print bracket and zone") {
  const Port port;
  Service service("::1");
  const std::string backend =
      fmt::format("[::1%lo]:{}", service.address().substr(service.address().rfind(':') + 1));
  ServingProgram weir(
      {.yaml = Setup{.workers = 2, .bind = {port.on("[::1%lo]")}, .backends = {backend}}.yaml()});
  {
    Stream client = Stream::connect(port.address("[::1]"));
    ask(client);
  }
  const LogEntry entry = weir.log(1)[0];
  CHECK(entry.address == backend);
  CHECK(entry.client.starts_with("[::1]:"));
  weir.program.wait_for_error_text("listening on " + port.on("[::1%lo]"));
  weir.program.signal(SIGTERM);
  CHECK(weir.wait_for_clean_exit().backend("servers", "b1").address == backend);
}

// `fe80::1%eth0`, if this machine has an address of the kind that can be bound.
std::optional<std::string> a_link_local_address() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return std::nullopt;
  std::optional<std::string> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6) continue;
    if ((each->ifa_flags & IFF_UP) == 0) continue;
    const auto address = net::SocketAddress::from(each->ifa_addr, sizeof(sockaddr_in6));
    const std::string text = address.text();
    if (!text.starts_with("[fe80:")) continue;
    found = text.substr(0, text.rfind(':'));
    break;
  }
  ::freeifaddrs(list);
  return found;
}

TEST_CASE("NET-02: link-local with its zone, at both ends") {
  const auto host = a_link_local_address();
  if (!host) {
    MESSAGE("skipped: no interface here has a link-local address");
    return;
  }
  const Port port;
  const Port to_backend;
  // The backend is another weir, so that weir both binds and dials such an address.
  Service service;
  ServingProgram second(
      {.yaml = Setup{.bind = {to_backend.on(*host)}, .backends = {service.address()}}.yaml()});
  ServingProgram first(
      {.yaml = Setup{.bind = {port.on(*host)}, .backends = {to_backend.on(*host)}}.yaml()});
  {
    Stream client = Stream::connect(port.address(*host));
    ask(client);
  }
  const LogEntry entry = first.log(1)[0];
  CHECK(entry.address == to_backend.on(*host));
  CHECK(entry.client.starts_with(*host + ":"));
  first.program.wait_for_error_text("listening on " + port.on(*host));
  CHECK(second.log(1)[0].client.starts_with(*host + ":"));
}

}  // namespace
}  // namespace weir::e2e
