#include "weir/app/demo.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <list>
#include <stdexcept>
#include <thread>
#include <utility>

#include "weir/config/load.h"
#include "weir/net/acceptor.h"
#include "weir/net/listen_socket.h"
#include "weir/net/loop.h"
#include "weir/net/run_queue.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"

namespace weir::app {
namespace {

constexpr const char* kAddress = "127.0.0.1:7432";

// Greets, then echoes. A demo's clients type by hand: what does not fit the socket is dropped.
class Echo final : public net::SocketWatcher {
 public:
  Echo(net::Loop& loop, net::Descriptor descriptor, const std::string& greeting)
      : socket_(std::move(descriptor)) {
    if (socket_.watch(loop.sockets(), *this)) {
      socket_.write(greeting);
    } else {
      socket_.close();
    }
  }
  bool over() const { return !socket_; }

 private:
  void on_ready() override {
    std::array<char, 4096> buffer;
    while (socket_ && socket_.readable()) {
      const net::IoResult got = socket_.read(buffer);
      if (got.status == net::IoResult::Status::blocked) return;
      if (got.status != net::IoResult::Status::done) return socket_.close();
      socket_.write({buffer.data(), got.bytes});
    }
  }

  net::Socket socket_;
};

class DemoBackend final : public net::Acceptor::Owner {
 public:
  DemoBackend(net::Loop& loop, std::string name, net::ListenSocket socket)
      : loop_(loop), name_(std::move(name)), acceptor_(loop, std::move(socket), *this) {}

 private:
  bool may_accept() override { return true; }
  void on_accepted(net::Descriptor socket, const net::SocketAddress&) override {
    clients_.remove_if([](const Echo& client) { return client.over(); });
    clients_.emplace_back(loop_, std::move(socket),
                          "backend " + name_ + " at your service; type a line\n");
  }
  void on_accept_error(net::AcceptError) override {}
  void on_batch_over() override {}
  void on_drained() override {}

  net::Loop& loop_;
  const std::string name_;
  std::list<Echo> clients_;
  net::Acceptor acceptor_;
};

}  // namespace

class DemoBackends::Server {
 public:
  explicit Server(std::vector<std::pair<std::string, net::ListenSocket>> sockets)
      : thread_([this, opened = std::move(sockets)]() mutable {
          std::list<DemoBackend> backends;
          for (auto& [name, socket] : opened) {
            backends.emplace_back(loop_, name, std::move(socket));
          }
          loop_.run();
        }) {}
  ~Server() {
    loop_.post([this] { loop_.stop(); });
    thread_.join();
  }

 private:
  net::Loop loop_;
  std::thread thread_;
};

DemoBackends::DemoBackends(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, net::ListenSocket>> sockets;
  for (const std::string& name : names) {
    core::Endpoint any;
    any.host = "127.0.0.1";
    std::string error;
    net::ListenSocket socket = net::ListenSocket::open(any, {}, error);
    if (!socket) throw std::runtime_error("demo backend " + name + ": " + error);
    backends_.emplace_back(name, socket.address().text());
    sockets.emplace_back(name, std::move(socket));
  }
  server_ = std::make_unique<Server>(std::move(sockets));
}

DemoBackends::~DemoBackends() = default;

// An admin socket's line would be the first of this text.
config::Configuration demo_configuration(const DemoBackends& backends) {
  std::string text = fmt::format(R"(listeners:
  - {{name: demo, bind: ["{}"], pool: demo}}
pools:
  - name: demo
    balance: round_robin
    backends:
)",
                                 kAddress);
  for (const auto& [name, address] : backends.backends()) {
    text += fmt::format("      - {{name: {}, address: \"{}\"}}\n", name, address);
  }
  const config::LoadResult loaded = config::load(text, ".", [](auto) { return std::nullopt; });
  assert(loaded.configuration);
  return *loaded.configuration;
}

std::string demo_greeting() {
  return fmt::format(R"(weir {} runs a demo: clients of {} are spread over three embedded backends.
Try, in another terminal (bash):

    for i in 1 2 3 4; do head -1 < /dev/tcp/{}; done

Each connection leaves one line of JSON here: the access log. Ctrl-C drains and ends.

)",
                     WEIR_VERSION, kAddress, "127.0.0.1/7432");
}

}  // namespace weir::app
