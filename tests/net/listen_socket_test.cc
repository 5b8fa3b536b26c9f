#include "weir/net/listen_socket.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"

using namespace weir;
using namespace weir::net;

namespace {

core::Endpoint tcp(std::uint16_t port = 0, const char* host = "127.0.0.1") {
  core::Endpoint endpoint;
  endpoint.host = host;
  endpoint.port = port;
  return endpoint;
}

core::Endpoint unix_path(const std::string& path) {
  core::Endpoint endpoint;
  endpoint.kind = core::Endpoint::Kind::unix_path;
  endpoint.host = path;
  return endpoint;
}

// A socket that must open.
ListenSocket must_open(const core::Endpoint& endpoint, const ListenOptions& options = {}) {
  std::string error;
  ListenSocket opened = ListenSocket::open(endpoint, options, error);
  REQUIRE_MESSAGE(opened, error);
  CHECK(error.empty());
  return opened;
}

// Why a socket that must not open does not.
std::string refusal(const core::Endpoint& endpoint, const ListenOptions& options = {}) {
  std::string error;
  const ListenSocket opened = ListenSocket::open(endpoint, options, error);
  CHECK_FALSE(opened);
  return error;
}

Peer accept_from(const ListenSocket& listening) {
  // Non-blocking: what the kernel has completed is there at once, on loopback.
  return Peer(Descriptor(::accept4(listening.fd(), nullptr, nullptr, SOCK_CLOEXEC)));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("port 0 is a port of the kernel's choice, and clients reach it") {
  const ListenSocket listening = must_open(tcp());
  CHECK(listening.address().port() != 0);
  CHECK_FALSE(listening.is_unix());
  CHECK(connect_to(listening.address()));
}

TEST_CASE("accepted sockets inherit that small writes are not delayed") {
  const ListenSocket listening = must_open(tcp());
  const Peer client = connect_to(listening.address());
  const Peer accepted = accept_from(listening);
  REQUIRE(accepted);
  CHECK(get_option(accepted.fd(), IPPROTO_TCP, TCP_NODELAY) == 1);
}

TEST_CASE("a claim refuses a port that another socket listens on, even a sharing one") {
  for (const bool sharing : {false, true}) {
    CAPTURE(sharing);
    const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (sharing) set_option(other.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    set_option(other.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    const SocketAddress any = loopback();
    REQUIRE(::bind(other.get(), any.generic(), any.length()) == 0);
    REQUIRE(::listen(other.get(), 1) == 0);
    const std::uint16_t port = SocketAddress::local(other.get()).port();
    CHECK(contains(refusal(tcp(port)), "Address already in use"));
  }
}

TEST_CASE("a claim refuses the port of another weir, while that one's workers join it") {
  const ListenSocket first = must_open(tcp());
  const std::uint16_t port = first.address().port();
  const ListenSocket second = must_open(tcp(port), {.port = Port::join});
  const ListenSocket third = must_open(tcp(port), {.port = Port::join});
  CHECK_FALSE(refusal(tcp(port)).empty());
  // The kernel spreads over all of them.
  std::vector<Peer> clients;
  for (int i = 0; i < 120; ++i) clients.push_back(connect_to(first.address()));
  for (const ListenSocket* each : {&first, &second, &third}) CHECK(accept_from(*each));
}

TEST_CASE("of two that claim one port at the same moment, one at most has it") {
  for (int round = 0; round < 300; ++round) {
    const std::uint16_t port = must_open(tcp()).address().port();
    std::atomic<int> ready{0};
    ListenSocket claimed[2];
    const auto claim = [&](int which) {
      ready.fetch_add(1);
      while (ready.load() < 2) {
      }
      std::string error;
      claimed[which] = ListenSocket::open(tcp(port), {}, error);
    };
    std::thread other([&] { claim(1); });
    claim(0);
    other.join();
    REQUIRE_FALSE((claimed[0] && claimed[1]));
  }
}

TEST_CASE("an address that is not of this machine is refused in words") {
  CHECK(contains(refusal(tcp(0, "192.0.2.1")), "cannot bind"));
  core::Endpoint zoned = core::parse_endpoint("[fe80::1%nosuchif]:5432").endpoint;
  CHECK(refusal(zoned) == "not a local address");
}

TEST_CASE("a unix socket listens at its path, and takes the file away when it closes") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  ListenSocket listening = must_open(unix_path(path));
  CHECK(listening.is_unix());
  CHECK(listening.address().text() == "unix:" + path);
  CHECK(connect_to(listening.address()));
  listening.close();
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a unix path that a dead process left behind is taken over") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  { Refusing dead(address_of("unix:" + path)); }
  REQUIRE(std::filesystem::exists(path));
  const ListenSocket listening = must_open(unix_path(path));
  CHECK(connect_to(listening.address()));
}

TEST_CASE("a unix path that somebody listens on is refused, even when the queue there is full") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  BlackHole full(address_of("unix:" + path));
  CHECK(contains(refusal(unix_path(path)), "another process listens"));
  Peer waiting = full.listening().accept();
  CHECK(contains(refusal(unix_path(path)), "another process listens"));
  const std::string ours = folder.file("t");
  const ListenSocket listening = must_open(unix_path(ours));
  CHECK(contains(refusal(unix_path(ours)), "another process listens"));
  CHECK(connect_to(listening.address()));
}

TEST_CASE("a file, a folder or a link at the path of a unix socket is never deleted") {
  ScratchFolder folder;
  write_file(folder.file("plain"), "precious");
  std::filesystem::create_directory(folder.file("folder"));
  std::filesystem::create_symlink("plain", folder.file("link"));
  for (const char* name : {"plain", "folder", "link"}) {
    CAPTURE(name);
    CHECK(contains(refusal(unix_path(folder.file(name))), "not a socket"));
    CHECK(std::filesystem::exists(folder.file(name)));
  }
  CHECK(text_of(folder.file("plain")) == "precious");
}

TEST_CASE("a unix path of 107 characters fits and one of 108 is refused, never cut short") {
  ScratchFolder folder;
  const std::string stem = folder.file("");
  const std::string fits = stem + std::string(107 - stem.size(), 'x');
  const ListenSocket listening = must_open(unix_path(fits));
  CHECK(std::filesystem::exists(fits));
  CHECK(connect_to(listening.address()));
  CHECK_FALSE(refusal(unix_path(stem + std::string(108 - stem.size(), 'y'))).empty());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a unix path in a folder that does not exist is refused with the folder's name") {
  ScratchFolder folder;
  CHECK(contains(refusal(unix_path(folder.file("none/s"))), folder.file("none")));
}

TEST_CASE("a folder whose lock somebody holds for ever holds up neither a start nor an end") {
  ScratchFolder folder;
  ListenSocket before = must_open(unix_path(folder.file("before")));
  const Descriptor holder(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  REQUIRE(::flock(holder.get(), LOCK_EX) == 0);
  CHECK(contains(refusal(unix_path(folder.file("s"))), "Resource temporarily unavailable"));
  before.close();
  CHECK_FALSE(std::filesystem::exists(folder.file("before")));
}

TEST_CASE("closing leaves a path alone that somebody else has bound since") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  ListenSocket old = must_open(unix_path(path));
  std::filesystem::rename(path, folder.file("moved"));
  const ListenSocket newer = must_open(unix_path(path));
  old.close();
  CHECK(std::filesystem::exists(path));
  CHECK(connect_to(newer.address()));
}

TEST_CASE("a shared unix socket accepts too and leaves the path to its owner") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  ListenSocket owner = must_open(unix_path(path));
  {
    const ListenSocket shared = owner.share();
    CHECK(shared.is_unix());
    const Peer client = connect_to(owner.address());
    CHECK(accept_from(shared));
  }
  CHECK(std::filesystem::exists(path));
  ListenSocket moved = std::move(owner);
  owner.close();
  CHECK(std::filesystem::exists(path));
  moved = ListenSocket();
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("after the last handshake the queue is emptied and closed, and nobody is reset") {
  ListenSocket listening = must_open(tcp());
  const SocketAddress address = listening.address();
  std::vector<Peer> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(connect_to(address));
  listening.stop_handshakes();
  // A client that comes now is not let in any more.
  const Descriptor late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::connect(late.get(), address.generic(), address.length());
  std::vector<Peer> served;
  while (Peer accepted = accept_from(listening)) served.push_back(std::move(accepted));
  CHECK(served.size() == 20);
  listening.close();
  for (Peer& each : served) each.send("goodbye");
  for (Peer& client : clients) CHECK(client.receive(7) == "goodbye");
}

TEST_CASE("a unix socket that stops handshakes is gone from the folder, its queue can be emptied") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  ListenSocket listening = must_open(unix_path(path));
  const Peer client = connect_to(listening.address());
  listening.stop_handshakes();
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(accept_from(listening));
  const ListenSocket next = must_open(unix_path(path));
  listening.close();
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("an IPv6 listener serves IPv4 clients too, unless it has IPv6 to itself") {
  core::Endpoint any;
  any.kind = core::Endpoint::Kind::ipv6;
  any.host = "::";
  std::string error;
  const ListenSocket dual = ListenSocket::open(any, {}, error);
  if (!dual) return;  // a machine without IPv6
  CHECK(connect_to(loopback(dual.address().port())));
  // Another program may have the port of the other family; then another one is tried.
  for (int tries = 0; tries < 50; ++tries) {
    const ListenSocket alone = must_open(any, {.ipv6_only = true});
    const std::uint16_t port = alone.address().port();
    const ListenSocket beside = ListenSocket::open(tcp(port, "0.0.0.0"), {}, error);
    if (!beside) continue;
    const Peer client = connect_to(loopback(port));
    CHECK(client);
    CHECK(accept_from(beside));
    CHECK_FALSE(accept_from(alone));
    return;
  }
  FAIL("no port was free in both families");
}

namespace {

struct stat file_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found;
}

ListenOptions access(mode_t mode) { return {.access = FileAccess{.mode = mode}}; }

}  // namespace

TEST_CASE("a unix socket's file has the mode that was asked for, whatever the umask") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  for (const mode_t mask : {0U, 0077U, 0777U}) {
    const mode_t before = ::umask(mask);
    for (const mode_t mode : {0600U, 0660U, 0666U}) {
      CAPTURE(mode);
      const ListenSocket listening = must_open(unix_path(path), access(mode));
      CHECK((file_of(path).st_mode & 07777) == mode);
      CHECK(connect_to(listening.address()));
    }
    ::umask(before);
  }
}

TEST_CASE("at no moment is a unix socket's file open to more than was asked for") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  const mode_t before = ::umask(0);
  std::atomic<bool> over{false};
  std::atomic<bool> wider{false};
  std::atomic<int> seen{0};
  std::thread onlooker([&] {
    while (!over.load()) {
      struct stat found {};
      if (::lstat(path.c_str(), &found) != 0) continue;
      ++seen;
      if ((found.st_mode & 07777 & ~mode_t{0600}) != 0) wider = true;
    }
  });
  for (int round = 0; round < 3000 || seen.load() < 100; ++round) {
    const ListenSocket listening = must_open(unix_path(path), access(0600));
  }
  over = true;
  onlooker.join();
  ::umask(before);
  CHECK_FALSE(wider.load());
}

TEST_CASE("a unix socket's file has the owner that was asked for") {
  if (::geteuid() != 0) return;  // only root gives files away
  ScratchFolder folder;
  const std::string path = folder.file("s");
  FileAccess theirs{.mode = 0660, .owner = 12345, .group = 23456};
  const ListenSocket listening = must_open(unix_path(path), {.access = theirs});
  const struct stat found = file_of(path);
  CHECK(found.st_uid == 12345);
  CHECK(found.st_gid == 23456);
  CHECK((found.st_mode & 07777) == 0660);
}

TEST_CASE("a socket whose access cannot be set does not listen and leaves no file") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  std::string error;
  if (::geteuid() == 0) return;  // root gets whatever it asks for
  const FileAccess theirs{.mode = 0600, .owner = 0};
  CHECK_FALSE(ListenSocket::open(unix_path(path), {.access = theirs}, error));
  CHECK(contains(error, "owner"));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a stale socket of another mode is taken over with the mode that was asked for") {
  ScratchFolder folder;
  const std::string path = folder.file("s");
  { Refusing dead(address_of("unix:" + path)); }
  std::filesystem::permissions(path, std::filesystem::perms::all);
  const ListenSocket listening = must_open(unix_path(path), access(0600));
  CHECK((file_of(path).st_mode & 07777) == 0600);
  CHECK(contains(refusal(unix_path(path)), "another process listens"));
}
