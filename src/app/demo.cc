#include "weir/app/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <list>
#include <optional>
#include <stdexcept>
#include <thread>

#include "app/demo_backend.h"
#include "app/demo_folder.h"
#include "app/demo_orders.h"
#include "app/demo_traffic.h"
#include "weir/app/app_options.h"
#include "weir/config/load.h"
#include "weir/net/loop.h"

namespace weir::app {
namespace {

// Where the demo is, if it can be. All below the ports that the kernel gives to connections.
constexpr std::uint16_t kClients = 7432;
constexpr std::uint16_t kOrders = 7433;
constexpr std::uint16_t kFirstBackend = 7441;
constexpr std::uint16_t kHttp = 9180;

net::ListenSocket open(std::uint16_t preferred) {
  core::Endpoint local;
  local.host = "127.0.0.1";
  std::string error;
  for (const std::uint16_t port : {preferred, std::uint16_t{0}}) {
    local.port = port;
    if (net::ListenSocket socket = net::ListenSocket::open(local, {}, error)) return socket;
  }
  throw std::runtime_error("the demo cannot listen on 127.0.0.1: " + error);
}

// bash's way of writing an address.
std::string device(std::string address) {
  std::replace(address.begin(), address.end(), ':', '/');
  return "/dev/tcp/" + address;
}

}  // namespace

// What weir is to bind.
struct Demo::Front {
  net::ListenSocket clients = open(kClients);
  net::ListenSocket http = open(kHttp);
  DemoFolder folder;
};

class Demo::Server {
 public:
  struct Sockets {
    std::vector<std::pair<std::string, net::ListenSocket>> backends;
    net::ListenSocket orders;
    std::optional<net::SocketAddress> clients;  // where traffic goes; none = there is none
  };

  explicit Server(Sockets sockets)
      : thread_([this, opened = std::move(sockets)]() mutable {
          std::list<DemoBackend> backends;
          for (auto& [name, socket] : opened.backends) {
            backends.emplace_back(loop_, name, std::move(socket));
          }
          const DemoOrders orders(loop_, backends, std::move(opened.orders));
          std::optional<DemoTraffic> traffic;
          if (opened.clients) traffic.emplace(loop_, *opened.clients);
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

Demo::Demo(const std::vector<std::string>& names, Traffic traffic)
    : front_(std::make_unique<Front>()) {
  Server::Sockets sockets;
  sockets.orders = open(kOrders);
  orders_ = sockets.orders.address().text();
  std::uint16_t port = kFirstBackend;
  for (const std::string& name : names) {
    net::ListenSocket socket = open(port++);
    backends_.emplace_back(name, socket.address().text());
    sockets.backends.emplace_back(name, std::move(socket));
  }
  if (traffic == Traffic::some) sockets.clients = front_->clients.address();
  configure(traffic);
  server_ = std::make_unique<Server>(std::move(sockets));
}

Demo::~Demo() = default;

// Short bounds, so that a circuit's whole story takes seconds. With `first_byte` a backend that
// hangs is found out as well. The traffic's lines would drown all else on a terminal.
void Demo::configure(Traffic traffic) {
  const std::string& log = front_->folder.access_log();
  const char* const none = "off";
  std::string text = fmt::format(R"(admin: {{socket: "{}"}}
http: {{listen: "{}"}}
log: {{access: "{}"}}
shutdown: {{deadline: 5s}}
listeners:
  - {{name: demo, bind: ["{}"], pool: demo}}
pools:
  - name: demo
    balance: round_robin
    timeouts: {{connect: 1s}}
    resilience:
      max_active_requests: 50
      max_pending_requests: 50
      pending_timeout: 3s
      max_fails: 2
      fail_timeout: 5s
      circuit_success: first_byte
      first_byte_timeout: 1s
    backends:
)",
                                 front_->folder.socket_path(), front_->http.address().text(),
                                 traffic == Traffic::none ? "stdout"
                                 : log.empty()            ? none
                                                          : log,
                                 front_->clients.address().text());
  for (const auto& [name, address] : backends_) {
    text += fmt::format("      - {{name: {}, address: \"{}\"}}\n", name, address);
  }
  const config::LoadResult loaded = config::load(text, ".", [](auto) { return std::nullopt; });
  assert(loaded.configuration);
  configuration_ = *loaded.configuration;
}

std::vector<net::ListenSocket> Demo::take_sockets() {
  std::vector<net::ListenSocket> sockets;
  sockets.push_back(std::move(front_->clients));
  sockets.push_back(std::move(front_->http));
  if (net::ListenSocket admin = front_->folder.take_socket()) sockets.push_back(std::move(admin));
  return sockets;
}

std::string Demo::greeting() const {
  const AppOptions& app = configuration_.app;
  const std::string clients = configuration_.listeners[0].bind[0].text();
  std::string log = "one line of JSON here for each connection";
  if (app.access_log != "stdout") {
    log = app.access_log == "off" ? "off, as there is no place for it" : app.access_log;
  }
  std::string text = fmt::format(R"(weir {} runs a demo: three backends of its own behind {}.

  dashboard    http://{}/
  admin socket {}
  access log   {}

Try, in another terminal (bash):

)",
                                 WEIR_VERSION, clients, app.http_listen->text(),
                                 app.admin_socket.empty() ? "none" : app.admin_socket, log);
  if (app.admin_socket != AppOptions().admin_socket && !app.admin_socket.empty()) {
    text += fmt::format("    export WEIR_SOCKET={}\n", app.admin_socket);
  }
  std::string names;
  for (const auto& [name, address] : backends_) names += name + " ";
  text += fmt::format(R"(    head -1 < {0}
    echo "a refuse" > {1}
    build/release/weirctl top
    echo "a fine" > {1}

An order is a backend ({2}) and a word (fine slow hang refuse). Ctrl-C drains and ends.

)",
                      device(clients), device(orders_),
                      names.substr(0, names.find_last_not_of(' ') + 1));
  return text;
}

}  // namespace weir::app
