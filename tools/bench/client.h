#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "message.h"
#include "sockets.h"

namespace weir::bench {

struct ClientOptions {
  std::uint16_t port = 0;       // of the proxy, on 127.0.0.1
  std::size_t connections = 1;  // open at a time
  std::uint64_t exchanges = 0;  // in total, shared by all connections as they become free
  Message message;              // what every exchange asks
  bool reconnect = false;       // a new connection for every exchange
};

struct ClientReport {
  double seconds = 0;
  std::vector<std::uint32_t> latencies_us;  // one for every exchange that succeeded
  std::uint64_t failures = 0;               // only when reconnecting; otherwise a failure throws
  std::string first_failure;
};

// A closed loop: each connection starts its next exchange when the last one has ended. The order
// within one exchange: connect if need be, send the message, read the whole answer, close if
// reconnecting (so it is the client that closes first, as with most protocols).
class Client {
 public:
  explicit Client(const ClientOptions& options);

  // Opens the kept connections and sends a small message over each, so that the far leg is up too.
  // Does nothing when reconnecting.
  void establish();

  // Throws std::runtime_error when nothing moves for ten seconds.
  ClientReport run();

 private:
  struct Connection {
    Descriptor socket;
    std::uint64_t sent = 0;      // of header and body
    std::uint64_t received = 0;  // of the answer
    std::uint64_t started_us = 0;
    bool busy = false;
  };

  void drive();                        // until no exchange is left to start or to finish
  void begin_next(std::size_t index);  // does nothing when none is left to start
  bool begin(std::size_t index);       // false = failed at once
  void advance(std::size_t index);
  bool send_message(std::size_t index);    // true = all of it is sent
  bool receive_answer(std::size_t index);  // true = all of it is there
  void succeed(std::size_t index);
  void give_up(std::size_t index, std::string why);

  ClientOptions options_;
  Poller poller_;
  std::vector<Connection> connections_;
  Message message_;             // what is asked now
  std::uint64_t to_start_ = 0;  // exchanges that no connection has begun yet
  std::size_t busy_ = 0;        // connections in the middle of an exchange
  std::uint64_t opened_ = 0;    // connections so far
  ClientReport report_;
};

}  // namespace weir::bench
