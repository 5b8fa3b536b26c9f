#include "app/demo_traffic.h"

#include <array>
#include <chrono>
#include <string_view>

#include "weir/net/connect.h"
#include "weir/net/socket.h"
#include "weir/net/socket_set.h"

namespace weir::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInterval(250);
// Longer than the demo's first_byte_timeout: a probe that nobody answers is judged, not given up.
constexpr milliseconds kPatience(3000);
constexpr std::string_view kSaid = "hello\n";

// Between 200 ms and 1.7 s, in no order that the eye finds.
milliseconds stay(std::uint64_t number) { return milliseconds(200 + number * 7 % 11 * 150); }

}  // namespace

class DemoTraffic::Client final : public net::SocketWatcher {
 public:
  Client(net::Loop& loop, const net::SocketAddress& to, milliseconds stay)
      : loop_(loop), to_(to), stay_(stay), leave_(loop, [this] { socket_.close(); }) {
    const net::ConnectState began = net::begin_connect(to, {}, socket_);
    note(began);
    if (!socket_) return;
    if (!socket_.watch(loop.sockets(), *this)) socket_.close();
    leave_.arm(loop.now() + kPatience);
  }

  bool over() const { return !socket_; }
  bool refused() const { return refused_; }

 private:
  void on_ready() override {
    if (!connected_) {
      const net::ConnectState state = net::continue_connect(socket_, to_);
      if (state.kind == net::ConnectState::Kind::pending) return;
      note(state);
      connected_ = state.kind == net::ConnectState::Kind::connected;
      if (!connected_) return socket_.close();
      socket_.write(kSaid);
    }
    std::array<char, 4096> buffer;
    while (socket_ && socket_.readable()) {
      const net::IoResult got = socket_.read(buffer);
      if (got.status == net::IoResult::Status::blocked) return;
      if (got.status != net::IoResult::Status::done) return socket_.close();
      if (!answered_) leave_.arm(loop_.now() + stay_);
      answered_ = true;
    }
  }

  void note(const net::ConnectState& state) {
    refused_ = state.kind == net::ConnectState::Kind::failed &&
               state.failure.outcome == core::DialOutcome::refused;
  }

  net::Loop& loop_;
  const net::SocketAddress to_;
  const milliseconds stay_;
  net::Socket socket_;
  net::Timer leave_;
  bool connected_ = false;
  bool refused_ = false;
  bool answered_ = false;
};

DemoTraffic::DemoTraffic(net::Loop& loop, const net::SocketAddress& to)
    : loop_(loop), to_(to), timer_(loop, [this] { next(); }) {
  timer_.arm(loop_.now());
}

DemoTraffic::~DemoTraffic() = default;

void DemoTraffic::next() {
  bool refused = false;
  for (const Client& client : clients_) refused = refused || client.refused();
  clients_.remove_if([](const Client& client) { return client.over(); });
  // weir drains: nobody is to be waited for.
  if (refused) return clients_.clear();
  clients_.emplace_back(loop_, to_, stay(count_++));
  timer_.arm(loop_.now() + kInterval);
}

}  // namespace weir::app
