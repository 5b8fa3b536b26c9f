#include "weir/upstream/dial.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "tests/net/dns_server.h"
#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"
#include "tests/upstream/made_pool.h"
#include "weir/net/timer.h"
#include "weir/upstream/backend.h"

using namespace weir;
using namespace weir::net;
using namespace weir::upstream;
using namespace std::chrono_literals;
using core::DialOutcome;

namespace {

// One dial of one backend, on a loop of its own.
struct Story final : Dial::Owner {
  explicit Story(const std::string& address, core::Duration patience = 5s)
      : backend(made_backend("a", address), {}, "orders", 1, 1), bound(patience) {}

  void on_dialled(core::DialResult ended, Socket) override {
    ended_at = loop.now();
    result = ended;
    dial.reset();
  }
  void start() {
    started_at = loop.refresh_now();
    const Dial::Terms terms{
        .deadline = started_at + bound, .data_follows = false, .for_nobody = true};
    dial = std::make_unique<Dial>(context, backend, source, terms, timer, *this);
    dial->start();
  }
  DialOutcome finish() {
    CHECK(turn_until(loop, [this] { return result.has_value(); }));
    CHECK_FALSE(timer.armed());
    return result ? result->outcome : DialOutcome::cancelled;
  }
  DialOutcome run() {
    start();
    return finish();
  }
  core::Duration lasted() const { return ended_at - started_at; }

  Loop loop;
  DnsServer dns{loop};
  core::Rng rng{1};
  Resolver resolver{loop, {.servers = dns.address(), .tries = 1}};
  Dial::Context context{loop, resolver, rng};
  Backend backend;
  const core::Duration bound;
  SocketAddress source;
  Timer timer{loop, [this] {
                if (dial) dial->on_timer();
              }};
  std::unique_ptr<Dial> dial;
  std::optional<core::DialResult> result;
  core::TimePoint started_at, ended_at;
};

}  // namespace

TEST_CASE("a backend that accepts is reached, and its program never hears of it") {
  int unheard = 0;
  for (int i = 0; i < 5; ++i) {
    Backlog a;
    Story story(a.address().text());
    CHECK(story.run() == DialOutcome::connected);
    if (!a.somebody_waits()) ++unheard;
  }
  CHECK(unheard >
        0);  // all of them, unless this machine is so busy that the kernel waits no longer
}

TEST_CASE(
    "a dial that comes so late that the handshake was completed ends by a reset all the same") {
  Backlog a;
  Story story(a.address().text());
  story.start();
  Peer peer = a.accept();  // once the kernel has waited long enough
  CHECK(story.finish() == DialOutcome::connected);
  CHECK(peer.next() == "reset");
}

TEST_CASE("a unix backend that accepts is reached, and sees an end") {
  ScratchFolder folder;
  Backlog a(address_of("unix:" + folder.file("a")));
  Story story(a.address().text());
  story.start();
  CHECK(story.result);  // unix sockets need no second look
  CHECK(a.accept().next() == "end");
}

TEST_CASE("a backend that refuses, or accepts only to reset, is not reached") {
  Refusing a;
  CHECK(Story(a.address().text()).run() == DialOutcome::refused);
  ScratchFolder folder;
  CHECK(Story("unix:" + folder.file("missing")).run() == DialOutcome::refused);
  Backlog b;
  Story story(b.address().text());
  story.start();
  b.accept().reset();
  CHECK(story.finish() == DialOutcome::reset);
}

TEST_CASE("a backend that does not answer is given up at the deadline, never before") {
  BlackHole tcp;
  Story story(tcp.address().text(), 30ms);
  CHECK(story.run() == DialOutcome::timeout);
  CHECK(story.lasted() >= 30ms);
  ScratchFolder folder;
  BlackHole full(address_of("unix:" + folder.file("full")));
  Story queued(full.address().text(), 30ms);
  CHECK(queued.run() == DialOutcome::timeout);
  CHECK(queued.lasted() >= 30ms);
}

TEST_CASE("a unix backend whose queue was full is reached when there is room") {
  ScratchFolder folder;
  BlackHole a(address_of("unix:" + folder.file("a")));
  Story story(a.address().text());
  story.start();
  turn_for(story.loop, 12ms);
  CHECK_FALSE(story.result);
  a.listening().accept();
  CHECK(story.finish() == DialOutcome::connected);
}

TEST_CASE("a dial that is dropped ends with a reset and tells nobody") {
  Backlog a;
  Story story(a.address().text());
  story.start();
  Peer peer = a.accept();  // the kernel has connected it, nobody has looked yet
  story.dial.reset();
  CHECK_FALSE(story.timer.armed());
  CHECK(peer.next() == "reset");
  turn_for(story.loop, 5ms);
  CHECK_FALSE(story.result);
}

TEST_CASE("a dial that is dropped during the look-up tells nobody") {
  Story story("db.test:5432");
  story.dns.names["db.test"] = {{"127.0.0.1"}, {}};
  story.start();
  story.dial.reset();
  turn_for(story.loop, 20ms);
  CHECK_FALSE(story.result);
}

TEST_CASE("a backend given by name is reached when one of its addresses accepts") {
  Refusing first;
  Backlog second(loopback(first.address().port(), "127.0.0.2"));
  Story story("db.test:" + std::to_string(first.address().port()));
  story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
  for (int i = 0; i < 4; ++i) {  // whichever comes first in the answer
    story.result.reset();
    CHECK(story.run() == DialOutcome::connected);
  }
  CHECK(story.dns.questions["db.test"] == 1);
}

TEST_CASE("an address that hangs leaves the others of its name their share of the time") {
  // One of the two ways round, the one that hangs is the first to be tried.
  for (const bool first_hangs : {true, false}) {
    BlackHole hole(loopback(0, first_hangs ? "127.0.0.1" : "127.0.0.2"));
    const std::uint16_t port = hole.address().port();
    Backlog other(loopback(port, first_hangs ? "127.0.0.2" : "127.0.0.1"));
    Story story("db.test:" + std::to_string(port), 600ms);
    story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
    CHECK(story.run() == DialOutcome::connected);
  }
}

TEST_CASE("the addresses of a name share one deadline") {
  BlackHole first;
  BlackHole second(loopback(first.address().port(), "127.0.0.2"));
  Story story("db.test:" + std::to_string(first.address().port()), 100ms);
  story.dns.names["db.test"] = {{"127.0.0.1", "127.0.0.2"}, {}};
  CHECK(story.run() == DialOutcome::timeout);
  CHECK(story.lasted() >= 100ms);
}

TEST_CASE("a name without addresses, or one that nobody answers for in time, is not resolved") {
  CHECK(Story("missing.test:5432").run() == DialOutcome::resolve_failed);
  Story silent("slow.test:5432", 20ms);
  silent.dns.silent = true;
  CHECK(silent.run() == DialOutcome::resolve_failed);
  CHECK(silent.lasted() >= 20ms);
}

TEST_CASE("the dial comes from the pool's source address") {
  Backlog a;
  Story story(a.address().text());
  story.source = loopback(0, "127.0.0.9");
  story.start();
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  const Descriptor accepted(
      ::accept4(a.fd(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC));
  REQUIRE(accepted);
  const std::string text = SocketAddress::from(reinterpret_cast<sockaddr*>(&from), length).text();
  CHECK(text.starts_with("127.0.0.9:"));
  CHECK(story.finish() == DialOutcome::connected);
}

TEST_CASE("what this machine lacks is said to be its own fault") {
  Backlog a;
  Story foreign(a.address().text());
  foreign.source = loopback(0, "192.0.2.1");
  CHECK(foreign.run() == DialOutcome::local_error);
  CHECK(foreign.result->no_local_port);

  Story story(a.address().text());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  story.start();
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(story.finish() == DialOutcome::local_error);
  CHECK_FALSE(story.result->no_local_port);
}
