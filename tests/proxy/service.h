#pragma once

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/net/noted.h"
#include "tests/net/scratch_folder.h"
#include "tests/net/tiny_json.h"
#include "tests/upstream/made_pool.h"
#include "weir/net/listen_socket.h"
#include "weir/net/resolver.h"
#include "weir/proxy/listener.h"
#include "weir/proxy/session.h"
#include "weir/proxy/session_table.h"

namespace weir::proxy {

// One worker's worth of weir on the test's thread: a listener with its sessions, and their log.
struct Service {
  explicit Service(const upstream::PoolOptions& pool_options, std::uint64_t max_connections = 0,
                   std::size_t descriptors = 1000, const std::string& bind = "")
      : budget(descriptors),
        held_pool(upstream::Pool::make(pool_options, 1)),
        held_state(std::make_shared<ListenerState>(options(max_connections), 1)),
        context{loop,   {{loop, resolver, rng}, selector, 0},
                budget, log.lane(0),
                clock,  scratch,
                rng,    0,
                table,  lone_dials,
                1} {
    core::Endpoint endpoint;
    endpoint.host = "127.0.0.1";
    if (!bind.empty()) endpoint = core::parse_endpoint(bind).endpoint;
    std::string error;
    net::ListenSocket socket = net::ListenSocket::open(endpoint, {}, error);
    REQUIRE_MESSAGE(socket, error);
    address = socket.address();
    listener.emplace(context, held_state, held_pool);
    listener->listen(1, std::move(socket));
  }
  ~Service() {
    table.for_each([](Session& session) { session.cut(core::CloseReason::shutdown, true); });
    static_cast<void>(until([this] { return table.empty(); }));
  }

  net::Peer client() { return net::connect_to(address); }
  bool until(const std::function<bool()>& condition) { return net::turn_until(loop, condition); }
  // Until all sessions are gone and everything that they held is back.
  void settle() {
    CHECK(until([this] { return table.empty(); }));
    CHECK(gauge.load() == 0);
    CHECK(state.connections() == 0);
    CHECK(pool.admission().active() == 0);
    CHECK(budget.used() == 0);
    for (const auto& backend : pool.backends()) {
      CHECK(backend->active() == 0);
      CHECK(backend->dialing() == 0);
    }
  }
  std::uint64_t closed_as(core::CloseReason reason) {
    return state.totals(0).closed[static_cast<std::size_t>(reason)].value();
  }
  // After settle(): what the access log says.
  std::vector<Json> log_lines() {
    log.finish();
    std::vector<Json> lines;
    std::istringstream stream(net::text_of(folder.file("access.log")));
    for (std::string line; std::getline(stream, line);) lines.push_back(JsonReader::read(line));
    return lines;
  }

  static ListenerOptions options(std::uint64_t max_connections) {
    ListenerOptions made;
    made.name = "orders";
    made.max_connections = max_connections;
    return made;
  }

  net::ScratchFolder folder;
  net::LineLog log{folder.file("access.log"), 1};
  net::Loop loop;
  net::Resolver resolver{loop, {}};
  core::Rng rng{1};
  upstream::Selector selector{rng};
  net::DescriptorBudget budget;
  net::WallClock clock;
  std::vector<char> scratch = std::vector<char>(256 * 1024);
  std::atomic<std::size_t> gauge{0};
  std::shared_ptr<upstream::Pool> held_pool;
  upstream::Pool& pool = *held_pool;
  std::shared_ptr<ListenerState> held_state;
  ListenerState& state = *held_state;
  upstream::LoneDials lone_dials{loop};
  Context context;
  SessionTable table{loop, 0, 1, gauge};
  net::SocketAddress address;
  std::optional<Listener> listener;
};

}  // namespace weir::proxy
