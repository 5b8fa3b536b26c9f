#include "weir/net/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "weir/net/steady_clock.h"

namespace weir::net {
namespace {

// What goes before each text. Both processes are on one machine: its own byte order will do.
struct Header {
  std::uint32_t text;
  std::uint32_t descriptors;
};

constexpr std::size_t kBatch = 200;  // descriptors with one byte; Linux takes 253

bool wait_for(int fd, short events, core::TimePoint until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_now()).count();
    pollfd watched{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(std::clamp<long>(left, 0, 60'000)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Bytes, with descriptors on the first of them; answers how many bytes went.
ssize_t send_once(int fd, std::string_view bytes, std::span<const int> descriptors) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kBatch * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool send_all(int fd, std::string_view bytes, std::span<const int> descriptors,
              core::TimePoint until) {
  while (!bytes.empty()) {
    const ssize_t sent = send_once(fd, bytes, descriptors);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      descriptors = {};
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT, until)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::pair<Channel, Channel> Channel::make() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
  return {Channel(Descriptor(ends[0])), Channel(Descriptor(ends[1]))};
}

// Each batch of descriptors rides on a byte of its own after the text.
bool Channel::send(std::string_view text, core::Duration patience,
                   std::span<const int> descriptors) {
  if (!end_) return false;
  const core::TimePoint until = steady_now() + patience;
  const Header header{static_cast<std::uint32_t>(text.size()),
                      static_cast<std::uint32_t>(descriptors.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += text;
  bool sent = send_all(fd(), bytes, {}, until);
  while (sent && !descriptors.empty()) {
    const auto batch = descriptors.first(std::min(kBatch, descriptors.size()));
    sent = send_all(fd(), ".", batch, until);
    descriptors = descriptors.subspan(batch.size());
  }
  if (!sent) {
    peer_gone_ = errno == EPIPE || errno == ECONNRESET;
    close();
  }
  return sent;
}

std::optional<Channel::Message> Channel::receive(core::Duration patience) {
  std::optional<Message> message = await(patience);
  if (!message) close();
  return message;
}

std::optional<Channel::Message> Channel::await(core::Duration patience) {
  const core::TimePoint until = steady_now() + patience;
  for (;;) {
    if (auto message = take()) return message;
    if (!end_) return std::nullopt;
    if (read_some() == Got::nothing && end_ && !wait_for(fd(), POLLIN, until)) return std::nullopt;
  }
}

void Channel::offer(std::string_view text, core::Duration patience) {
  if (!end_) return;
  const Header header{static_cast<std::uint32_t>(text.size()), 0};
  kept_.append(reinterpret_cast<const char*>(&header), sizeof header);
  kept_ += text;
  flush(patience);
}

bool Channel::flush(core::Duration patience) {
  const core::TimePoint until = steady_now() + patience;
  while (end_ && !kept_.empty()) {
    const ssize_t sent = send_once(fd(), kept_, {});
    if (sent > 0) {
      kept_.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd(), POLLOUT, until)) return false;
    } else if (errno == EPIPE || errno == ECONNRESET) {
      kept_.clear();  // what it has sent before it went is still to be read, and then its end
    } else if (errno != EINTR) {
      close();
    }
  }
  return kept_.empty();
}

std::optional<Channel::Message> Channel::poll() {
  while (end_ && read_some() == Got::something) {
  }
  return take();
}

Channel::Got Channel::read_some() {
  std::array<char, 65536> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kBatch * sizeof(int))> control;
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(fd(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return Got::nothing;
    peer_gone_ = errno == ECONNRESET;
    close();
    return Got::nothing;
  }
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::vector<int> numbers(count);
    std::memcpy(numbers.data(), CMSG_DATA(each), count * sizeof(int));
    for (const int number : numbers) received_.emplace_back(number);
  }
  if (got == 0) {
    peer_gone_ = true;
    close();
  }
  pending_.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0 ? Got::something : Got::nothing;
}

std::optional<Channel::Message> Channel::take() {
  Header header;
  if (pending_.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, pending_.data(), sizeof header);
  if (header.text > kMostText || header.descriptors > kMostDescriptors) {
    close();
    pending_.clear();
    return std::nullopt;
  }
  const std::size_t batches = (header.descriptors + kBatch - 1) / kBatch;
  const std::size_t whole = sizeof header + header.text + batches;
  if (pending_.size() < whole || received_.size() < header.descriptors) return std::nullopt;
  Message message;
  message.text = pending_.substr(sizeof header, header.text);
  for (std::uint32_t i = 0; i < header.descriptors; ++i) {
    message.descriptors.push_back(std::move(received_.front()));
    received_.pop_front();
  }
  pending_.erase(0, whole);
  return message;
}

}  // namespace weir::net
