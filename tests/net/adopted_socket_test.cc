// Listening sockets that another process has made.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"
#include "weir/net/listen_socket.h"

using namespace weir;
using namespace weir::net;

namespace {

core::Endpoint endpoint(const std::string& text) { return core::parse_endpoint(text).endpoint; }

core::Endpoint any_port(const char* host, core::Endpoint::Kind kind = core::Endpoint::Kind::ipv4) {
  core::Endpoint made;
  made.kind = kind;
  made.host = host;
  return made;
}

ListenSocket open(const core::Endpoint& at, const ListenOptions& options = {}) {
  std::string error;
  ListenSocket socket = ListenSocket::open(at, options, error);
  REQUIRE_MESSAGE(socket, error);
  return socket;
}

Descriptor copy(const ListenSocket& socket) { return Descriptor(::dup(socket.fd())); }

// As a service manager makes it: blocking, inherited by children, without options.
Descriptor plain(const SocketAddress& address) {
  Descriptor made(::socket(address.family(), SOCK_STREAM, 0));
  REQUIRE(::bind(made.get(), address.generic(), address.length()) == 0);
  REQUIRE(::listen(made.get(), 8) == 0);
  return made;
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

int option(int fd, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  REQUIRE(::getsockopt(fd, level, name, &value, &length) == 0);
  return value;
}

}  // namespace

TEST_CASE("an adopted socket is as one that was opened here, and takes up who waits there") {
  Descriptor made = plain(loopback());
  const SocketAddress address = SocketAddress::local(made.get());
  Peer waiting = connect_to(address);
  const ListenSocket adopted = ListenSocket::adopt(std::move(made));
  REQUIRE(adopted);
  CHECK(adopted.address().text() == address.text());
  CHECK_FALSE(adopted.is_unix());
  CHECK((::fcntl(adopted.fd(), F_GETFL) & O_NONBLOCK) != 0);
  CHECK((::fcntl(adopted.fd(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(option(adopted.fd(), IPPROTO_TCP, TCP_NODELAY) == 1);
  CHECK(option(adopted.fd(), SOL_SOCKET, SO_OOBINLINE) == 1);
  const Descriptor accepted(::accept4(adopted.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  CHECK(accepted);
}

TEST_CASE("others may join the port of an adopted socket") {
  const ListenSocket adopted = ListenSocket::adopt(plain(loopback()));
  REQUIRE(adopted);
  const ListenSocket joined = open(endpoint(adopted.address().text()), {.port = Port::join});
  CHECK(joined.address().port() == adopted.address().port());
}

TEST_CASE("what does not listen is not adopted, and is closed") {
  Descriptor stream(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Descriptor datagram(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (Descriptor* each : {&stream, &datagram, &file}) {
    const int number = each->get();
    CHECK_FALSE(ListenSocket::adopt(std::move(*each)));
    CHECK(::fcntl(number, F_GETFD) < 0);
  }
  CHECK_FALSE(ListenSocket::adopt(Descriptor()));
}

TEST_CASE("the path of an adopted unix socket stays, when it is closed and when it stops") {
  const ScratchFolder folder;
  const std::string path = folder.file("front");
  const ListenSocket first = open(endpoint("unix:" + path));
  ListenSocket adopted = ListenSocket::adopt(copy(first));
  REQUIRE(adopted);
  CHECK(adopted.is_unix());
  adopted.stop_handshakes();
  adopted.close();
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("whoever has taken the path of a unix socket removes it") {
  const ScratchFolder folder;
  const std::string path = folder.file("front");
  ListenSocket first = open(endpoint("unix:" + path), {.access = FileAccess{.mode = 0600}});
  {
    ListenSocket adopted = ListenSocket::adopt(copy(first));
    std::string error;
    CHECK(adopted.take_path(std::nullopt, error));
    first.disown();
    first.close();
    CHECK(std::filesystem::exists(path));
    connect_to(SocketAddress::from(endpoint("unix:" + path)));
    CHECK(mode_of(path) == 0600);
    CHECK(adopted.take_path(FileAccess{.mode = 0660}, error));
    CHECK(mode_of(path) == 0660);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a path that is gone, and a socket without one, are taken without harm") {
  const ScratchFolder folder;
  const std::string path = folder.file("front");
  ListenSocket unix_socket = open(endpoint("unix:" + path));
  unix_socket.disown();
  std::filesystem::remove(path);
  std::string error;
  CHECK(unix_socket.take_path(FileAccess{}, error));
  ListenSocket tcp = open(any_port("127.0.0.1"));
  CHECK(tcp.take_path(std::nullopt, error));
}

TEST_CASE("a socket knows whether it takes IPv6 only") {
  CHECK(open(any_port("::", core::Endpoint::Kind::ipv6), {.ipv6_only = true}).ipv6_only());
  CHECK_FALSE(open(any_port("::", core::Endpoint::Kind::ipv6)).ipv6_only());
  CHECK_FALSE(open(any_port("127.0.0.1")).ipv6_only());
}
