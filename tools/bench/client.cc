#include "client.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace weir::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(10);

// Connections opened at a time by establish(): below the smallest listen backlog among the proxies
// (nginx, 511), or dropped SYNs would cost a second each.
constexpr std::size_t kOpenedAtATime = 64;

std::uint64_t now_us() {
  const auto now = steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(now).count());
}

std::string error_text(const char* call) { return fmt::format("{}: {}", call, strerror(errno)); }

}  // namespace

Client::Client(const ClientOptions& options)
    : options_(options), connections_(options.connections), message_(options.message) {
  report_.latencies_us.reserve(options.exchanges);
}

void Client::establish() {
  if (options_.reconnect) return;
  message_ = Message{};
  for (std::size_t index = 0; index < connections_.size(); ++index) {
    begin(index);
    if ((index + 1) % kOpenedAtATime == 0) drive();
  }
  drive();
  message_ = options_.message;
  report_ = ClientReport{};
}

ClientReport Client::run() {
  const std::uint64_t start = now_us();
  to_start_ = options_.exchanges;
  for (std::size_t index = 0; index < connections_.size(); ++index) begin_next(index);
  drive();
  report_.seconds = static_cast<double>(now_us() - start) / 1e6;
  return std::move(report_);
}

void Client::drive() {
  while (busy_ > 0) {
    const auto events = poller_.wait(kPatience);
    if (events.empty()) {
      throw std::runtime_error(
          fmt::format("nothing moved for {} s on {} busy connections", kPatience.count(), busy_));
    }
    for (const epoll_event& event : events) advance(static_cast<std::size_t>(event.data.u64));
  }
}

void Client::begin_next(std::size_t index) {
  while (to_start_ > 0) {
    --to_start_;
    if (begin(index)) return;
  }
}

bool Client::begin(std::size_t index) {
  Connection& connection = connections_[index];
  connection.sent = 0;
  connection.received = 0;
  connection.started_us = now_us();
  connection.busy = true;
  ++busy_;
  if (connection.socket.number() >= 0) {
    send_message(index);
    return true;
  }
  connection.socket = connect_to_loopback(options_.port, opened_++);
  if (connection.socket.number() < 0) {
    give_up(index, error_text("connect"));
    return false;
  }
  // The first event is the outcome of the connect; a failed one fails the send.
  poller_.add(connection.socket.number(), EPOLLIN | EPOLLOUT | EPOLLRDHUP, index);
  return true;
}

void Client::advance(std::size_t index) {
  // Between two exchanges there is nothing to come but the end of a kept connection; the next
  // exchange will notice it.
  if (!connections_[index].busy) return;
  if (send_message(index) && receive_answer(index)) succeed(index);
  if (!connections_[index].busy) begin_next(index);
}

bool Client::send_message(std::size_t index) {
  Connection& connection = connections_[index];
  const std::uint64_t total = kHeaderBytes + message_.body;
  while (connection.sent < total) {
    std::int64_t moved = 0;
    if (connection.sent < kHeaderBytes) {
      const Header header = encode(message_);
      moved = send(connection.socket.number(), header.data() + connection.sent,
                   kHeaderBytes - connection.sent, MSG_NOSIGNAL);
    } else {
      moved = send_filler(connection.socket, total - connection.sent);
    }
    if (moved < 0) {
      if (errno != EAGAIN) give_up(index, error_text("send"));
      return false;
    }
    connection.sent += static_cast<std::uint64_t>(moved);
  }
  return true;
}

bool Client::receive_answer(std::size_t index) {
  Connection& connection = connections_[index];
  while (connection.received < message_.answer) {
    const std::int64_t moved = discard(connection.socket, message_.answer - connection.received);
    if (moved == 0) {
      give_up(index, fmt::format("closed after {} of {} bytes of the answer", connection.received,
                                 message_.answer));
      return false;
    }
    if (moved < 0) {
      if (errno != EAGAIN) give_up(index, error_text("recv"));
      return false;
    }
    connection.received += static_cast<std::uint64_t>(moved);
  }
  return true;
}

void Client::succeed(std::size_t index) {
  Connection& connection = connections_[index];
  connection.busy = false;
  --busy_;
  if (options_.reconnect) connection.socket.close();
  const std::uint64_t took = now_us() - connection.started_us;
  report_.latencies_us.push_back(static_cast<std::uint32_t>(took));
}

void Client::give_up(std::size_t index, std::string why) {
  if (!options_.reconnect) throw std::runtime_error("a kept connection failed: " + why);
  Connection& connection = connections_[index];
  connection.busy = false;
  --busy_;
  connection.socket.close();
  if (report_.failures++ == 0) report_.first_failure = std::move(why);
}

}  // namespace weir::bench
