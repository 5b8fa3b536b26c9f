#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/net/noted.h"
#include "weir/proxy/relay.h"

namespace weir::proxy {

// A client, a backend, and the relay between them, on a clock that the test advances.
struct RelayStory {
  explicit RelayStory(const upstream::TimeoutOptions& options = {}, int buffer = 0)
      : timeouts(options),
        client(net::tcp_ends(buffer)),
        backend(net::tcp_ends(buffer)),
        relay(client.socket, backend.socket, timeouts, totals, start, start, rng) {
    REQUIRE(client.socket.watch(loop.sockets(), noted));
    REQUIRE(backend.socket.watch(loop.sockets(), noted));
    REQUIRE(net::turn_until(
        loop, [this] { return client.socket.writable() && backend.socket.writable(); }));
  }

  void step() {
    if (!end) end = relay.step(scratch, now);
  }
  bool until(const std::function<bool()>& condition) {
    return net::turn_until(loop, [&] {
      step();
      return condition();
    });
  }
  bool until_end() {
    return until([this] { return end.has_value(); });
  }
  // The client sends, and the backend has it.
  void client_says(const std::string& text) {
    client.peer.send(text);
    const std::uint64_t wanted = relay.bytes_in() + text.size();
    CHECK(until([&] { return relay.bytes_in() == wanted; }));
    CHECK(backend.peer.receive(text.size()) == text);
  }
  void backend_says(const std::string& text) {
    backend.peer.send(text);
    const std::uint64_t wanted = relay.bytes_out() + text.size();
    CHECK(until([&] { return relay.bytes_out() == wanted; }));
    CHECK(client.peer.receive(text.size()) == text);
  }
  // `from` sends until nothing moves any more, as the other one does not read.
  void get_stuck(net::Peer& from, const net::Socket& towards) {
    const std::string block(64 * 1024, 'x');
    CHECK(until([&] { return from.send_some(block) == 0 && !towards.writable(); }));
    net::turn_for(loop, std::chrono::milliseconds(5));
    step();
  }
  // Goes from deadline to deadline as a timer would, until the end or `until`.
  void wait_until(core::TimePoint until) {
    for (int i = 0; i < 10000 && !end; ++i) {
      const core::TimePoint next = relay.next_deadline();
      if (next > until) break;
      REQUIRE(next >= now);
      now = next;
      end = relay.on_deadline(now);
    }
    if (!end) now = until;
  }

  const core::TimePoint start{std::chrono::seconds(1000)};
  core::TimePoint now = start;
  upstream::TimeoutOptions timeouts;
  core::Rng rng{1};
  ListenerTotals totals;
  net::Loop loop;
  net::Noted noted;
  net::Ends client, backend;
  std::vector<char> scratch = std::vector<char>(256 * 1024);
  std::optional<RelayEnd> end;
  Relay relay;
};

}  // namespace weir::proxy
