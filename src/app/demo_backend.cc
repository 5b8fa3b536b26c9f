#include "app/demo_backend.h"

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <utility>

namespace weir::app {
namespace {

constexpr std::array kMoods = {Mood::fine, Mood::slow, Mood::hang, Mood::refuse};
constexpr std::chrono::milliseconds kSlowly(500);

// A port that is bound, and nobody listens: it refuses, and nobody else can have it. Empty = the
// kernel will not have it.
net::Descriptor refusing(const core::Endpoint& endpoint) {
  const net::SocketAddress address = net::SocketAddress::from(endpoint);
  net::Descriptor bound(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;  // beside the socket that still listens
  ::setsockopt(bound.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::bind(bound.get(), address.generic(), address.length()) != 0) return {};
  return bound;
}

}  // namespace

std::string_view name(Mood mood) {
  switch (mood) {
    case Mood::fine:
      return "fine";
    case Mood::slow:
      return "slow";
    case Mood::hang:
      return "hang";
    case Mood::refuse:
      return "refuse";
  }
  return "";
}

std::optional<Mood> mood_named(std::string_view word) {
  for (const Mood each : kMoods) {
    if (word == name(each)) return each;
  }
  return std::nullopt;
}

class DemoBackend::Client final : public net::SocketWatcher {
 public:
  Client(const DemoBackend& backend, net::Descriptor descriptor)
      : backend_(backend),
        socket_(std::move(descriptor)),
        answer_later_(backend.loop_, [this] { answer(); }),
        unsaid_("backend " + backend.name_ + " at your service; type a line\n") {
    if (!socket_.watch(backend_.loop_.sockets(), *this)) {
      socket_.close();
    } else {
      on_ready();
    }
  }

  // One that left an answer behind is never answered: nothing need be kept for it.
  bool over() const { return !socket_ || (backend_.mood_ == Mood::hang && socket_.peer_ended()); }
  void on_ready() override {
    switch (backend_.mood_) {
      case Mood::hang:
        return answer_later_.cancel();
      case Mood::slow:
        if (!answer_later_.armed()) answer_later_.arm(backend_.loop_.now() + kSlowly);
        return;
      case Mood::fine:
      case Mood::refuse:
        return answer();
    }
  }

 private:
  void answer() {
    if (!socket_) return;
    socket_.write(std::exchange(unsaid_, {}));
    std::array<char, 4096> buffer;
    while (socket_ && socket_.readable()) {
      const net::IoResult got = socket_.read(buffer);
      if (got.status == net::IoResult::Status::blocked) return;
      if (got.status != net::IoResult::Status::done) return socket_.close();
      socket_.write({buffer.data(), got.bytes});
    }
  }

  const DemoBackend& backend_;
  net::Socket socket_;
  net::Timer answer_later_;
  std::string unsaid_;
};

DemoBackend::DemoBackend(net::Loop& loop, std::string name, net::ListenSocket socket)
    : loop_(loop),
      name_(std::move(name)),
      endpoint_(core::parse_endpoint(socket.address().text()).endpoint) {
  listen(std::move(socket));
}

DemoBackend::~DemoBackend() = default;

void DemoBackend::listen(net::ListenSocket socket) {
  net::Acceptor::Owner& owner = *this;
  acceptor_.emplace(loop_, std::move(socket), owner);
}

std::string DemoBackend::set(Mood mood) {
  if (mood == Mood::refuse && acceptor_) {
    refusing_ = refusing(endpoint_);
    if (!refusing_) return endpoint_.text() + ": cannot keep the port";
    acceptor_.reset();
  } else if (mood != Mood::refuse && !acceptor_) {
    std::string error;
    net::ListenOptions options;
    options.port = net::Port::join;
    net::ListenSocket socket = net::ListenSocket::open(endpoint_, options, error);
    if (!socket) return endpoint_.text() + ": " + error;
    listen(std::move(socket));
    refusing_.reset();
  }
  mood_ = mood;
  for (Client& client : clients_) client.on_ready();
  return {};
}

void DemoBackend::on_accepted(net::Descriptor socket, const net::SocketAddress&) {
  clients_.remove_if([](const Client& client) { return client.over(); });
  clients_.emplace_back(*this, std::move(socket));
}

}  // namespace weir::app
