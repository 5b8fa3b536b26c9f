#include "app/demo_orders.h"

#include <array>
#include <utility>

#include "weir/net/log.h"

namespace weir::app {
namespace {

constexpr std::size_t kMostLine = 256;  // far more than a backend's name and a word

}  // namespace

class DemoOrders::Desk final : public net::SocketWatcher {
 public:
  Desk(DemoOrders& orders, net::Descriptor descriptor)
      : orders_(orders), socket_(std::move(descriptor)) {
    if (!socket_.watch(orders_.loop_.sockets(), *this)) socket_.close();
  }
  bool over() const { return !socket_; }

 private:
  void on_ready() override {
    std::array<char, kMostLine> buffer;
    while (socket_ && socket_.readable()) {
      const net::IoResult got = socket_.read(buffer);
      if (got.status == net::IoResult::Status::blocked) return;
      if (got.status != net::IoResult::Status::done) return socket_.close();
      heard_.append(buffer.data(), got.bytes);
      for (std::size_t end; (end = heard_.find('\n')) != std::string::npos;) {
        socket_.write(orders_.carry_out(heard_.substr(0, end)) + "\n");
        heard_.erase(0, end + 1);
      }
      if (heard_.size() > kMostLine) return socket_.close();
    }
  }

  DemoOrders& orders_;
  net::Socket socket_;
  std::string heard_;
};

DemoOrders::DemoOrders(net::Loop& loop, std::list<DemoBackend>& backends, net::ListenSocket socket)
    : loop_(loop), backends_(backends), acceptor_(loop, std::move(socket), *this) {}

DemoOrders::~DemoOrders() = default;

void DemoOrders::on_accepted(net::Descriptor socket, const net::SocketAddress&) {
  desks_.remove_if([](const Desk& desk) { return desk.over(); });
  desks_.emplace_back(*this, std::move(socket));
}

std::string DemoOrders::carry_out(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t space = line.find(' ');
  const std::string_view who = line.substr(0, space);
  const auto mood =
      mood_named(space == std::string_view::npos ? std::string_view() : line.substr(space + 1));
  std::string names;
  for (DemoBackend& backend : backends_) {
    names += (names.empty() ? "" : " ") + backend.name();
    if (backend.name() != who || !mood) continue;
    const std::string failure = backend.set(*mood);
    if (!failure.empty()) {
      net::log(net::LogLevel::warning, "demo", "backend {}: {}: {}", who, name(*mood), failure);
      return "cannot: " + failure;
    }
    net::log(net::LogLevel::info, "demo", "backend {}: {}", who, name(*mood));
    return fmt::format("backend {}: {}", who, name(*mood));
  }
  return "an order is BACKEND WORD; backends are " + names + ", words are fine slow hang refuse";
}

}  // namespace weir::app
