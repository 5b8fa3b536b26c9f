#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/test_weir.h"

namespace weir::e2e {

// The text of a configuration file with one listener `front` on one pool `servers`. Members are
// pieces of YAML flow style; empty ones are left out.
struct Setup {
  int workers = 1;
  std::vector<std::string> bind = {"127.0.0.1:1"};
  int max_connections = 0;
  std::string listener = {};               // further keys of the listener: `allow: ["::1"]`
  std::string timeouts = {};               // `idle: 300ms, half_close: 0s`
  std::string resilience = {};             // `retry_enabled: false`
  bool circuit = false;                    // scripts about something else have it off
  std::string pool = {};                   // further keys of the pool: `balance: first`
  std::vector<std::string> backends = {};  // addresses; named b1, b2, ...

  std::string yaml() const;
};

// What a session is carried over, as client's transport and backend's.
struct Way {
  enum class Kind { ipv4, ipv6, unix_socket };
  Kind client = Kind::ipv4;
  Kind backend = Kind::ipv4;

  std::string text() const;
};
inline constexpr Way kTcp{Way::Kind::ipv4, Way::Kind::ipv4};
inline constexpr Way kIpv6{Way::Kind::ipv6, Way::Kind::ipv6};
inline constexpr Way kUnixClient{Way::Kind::unix_socket, Way::Kind::ipv4};
inline constexpr Way kUnixBackend{Way::Kind::ipv4, Way::Kind::unix_socket};

// The two ends of one session.
struct Ends {
  Stream client;
  Stream backend;
};

// Which of the two plays a part that may be played by either.
enum class Side { client, backend };
inline Side other(Side side) { return side == Side::client ? Side::backend : Side::client; }
inline Stream& end_of(Ends& ends, Side side) {
  return side == Side::client ? ends.client : ends.backend;
}

// One weir between clients and one scripted backend: the stage of most scripts.
class Scene {
 public:
  struct Options {
    Way way = kTcp;
    int workers = 1;
    int max_connections = 0;
    std::string timeouts = {};
    std::string resilience = {};
    Buffers client = {};              // of clients that connect() makes
    Buffers backend = {};             // of what the backend accepts
    int backlog = Backend::kBacklog;  // of the backend
  };

  explicit Scene(const Options& options);

  // A session: a client connects and the backend accepts what weir dials for it. One at a time, so
  // that the ends belong together; each gets patterns of its own.
  Ends open(At at = At::here());
  Stream connect(At at = At::here()) const { return weir.connect(client_buffers_, at); }

  const Folder folder;
  Backend backend;
  TestWeir weir;

 private:
  const Buffers client_buffers_;
  std::uint64_t sessions_ = 0;
};

}  // namespace weir::e2e
