#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/peer.h"

namespace weir::e2e {

// A backend that serves by itself, on a thread of its own: it echoes what each connection says and
// ends after the other side has ended.
class Service {
 public:
  explicit Service(const std::string& host = "127.0.0.1") : Service(Backend(host)) {}
  explicit Service(Backend listening);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  const std::string& address() const { return address_; }  // as in a configuration file

  std::size_t accepted() const;     // in all
  std::size_t connections() const;  // now
  std::size_t peak() const;         // most connections at once
  // Of those that are over: the ones that said something, and the others by how they ended. An
  // active check is one without a word.
  std::size_t spoke() const;
  std::size_t silent(Ending ending) const;
  // Where the connections came from, in order.
  std::vector<net::SocketAddress> peers() const;

 private:
  void run();
  void accept_all();
  void serve_all();

  struct Connection {
    PeerDescriptor descriptor;
    bool spoke = false;
  };

  Backend backend_;
  const std::string address_;
  PeerDescriptor wake_;
  std::vector<Connection> connections_;  // on the thread
  mutable std::mutex mutex_;             // guards what follows
  std::vector<net::SocketAddress> peers_;
  std::size_t now_ = 0;
  std::size_t peak_ = 0;
  std::size_t spoke_ = 0;
  std::size_t silent_ends_ = 0;
  std::size_t silent_resets_ = 0;
  std::thread thread_;
};

// Says something through weir to a Service and hears the echo.
void ask(Stream& client, At at = At::here());

// So many of them, and their addresses.
std::vector<std::unique_ptr<Service>> services(std::size_t count);
std::vector<std::string> addresses_of(const std::vector<std::unique_ptr<Service>>& services);

}  // namespace weir::e2e
