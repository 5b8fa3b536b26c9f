#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/dns_server.h"
#include "tests/net/noted.h"
#include "tests/upstream/made_pool.h"
#include "weir/net/resolver.h"
#include "weir/net/timer.h"
#include "weir/upstream/connector.h"
#include "weir/upstream/pool.h"

namespace weir::upstream {

// One client's way to a backend, on a loop of its own, told in attempts: `a refused`, `b
// connected`.
struct DialStory final : Connector::Owner {
  explicit DialStory(const PoolOptions& options)
      : pool(options, 1), resolver(loop, {.servers = dns.address(), .tries = 1}) {
    started_at = loop.refresh_now();  // the connector's bounds count from here
    connector = std::make_unique<Connector>(context, pool, 0, false, timer, *this);
  }

  void on_connected(Connection made) override {
    ended_at = loop.now();
    note_attempts();
    connection = std::move(made);
    connection->socket.set_watcher(noted);
  }
  void on_dial_failed(core::CloseReason why) override {
    ended_at = loop.now();
    note_attempts();
    reason = why;
  }

  void start() {
    loop.refresh_now();
    connector->start();
  }
  bool ended() const { return connection || reason; }
  // To its end, and there the connector goes, as it does in a session.
  DialStory& run() {
    start();
    finish();
    return *this;
  }
  void finish() {
    CHECK(net::turn_until(loop, [this] { return ended(); }));
    connector.reset();
  }
  // The client leaves.
  void leave() {
    note_attempts();
    connector.reset();
  }

  void note_attempts() {
    for (const Attempt& attempt : connector->take_attempts()) {
      attempts.push_back(attempt.backend->name() + " " + std::string(core::name(attempt.outcome)));
      addresses.push_back(attempt.address());
      took.push_back(attempt.took);
    }
  }
  core::Duration lasted() const { return ended_at - started_at; }
  std::uint64_t count(std::size_t place, core::DialOutcome outcome) const {
    return pool.backend(place).dials(outcome);
  }
  bool at_rest() const {
    for (const auto& backend : pool.backends()) {
      if (backend->active() != 0 || backend->dialing() != 0) return false;
    }
    return true;
  }

  net::Loop loop;
  net::DnsServer dns{loop};
  core::Rng rng{1};
  Selector selector{rng};
  Pool pool;
  net::Resolver resolver;
  const DialContext context{{loop, resolver, rng}, selector, 0};
  net::Noted noted;
  net::Timer timer{loop, [this] {
                     if (connector) connector->on_timer();
                   }};
  std::unique_ptr<Connector> connector;

  std::optional<Connection> connection;
  std::optional<core::CloseReason> reason;
  core::TimePoint started_at, ended_at;
  std::vector<std::string> attempts;
  std::vector<std::string> addresses;
  std::vector<core::Duration> took;
};

using Attempts = std::vector<std::string>;

}  // namespace weir::upstream
