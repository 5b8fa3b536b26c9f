#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/core/time.h"
#include "weir/net/descriptor.h"

namespace weir::net {

// Messages between two processes of this machine, each a text and descriptors that go with it. A
// peer that sends nonsense counts as gone: from there the channel is closed. One that does not read
// or write in time counts as gone to send() and receive(), and as silent to offer() and await().
// One thread.
class Channel {
 public:
  struct Message {
    std::string text;
    std::vector<Descriptor> descriptors;
  };

  static constexpr std::uint32_t kMostText = 64u << 20;  // bytes; far more than thousands of pools
  static constexpr std::uint32_t kMostDescriptors = 16384;

  Channel() = default;
  explicit Channel(Descriptor end) : end_(std::move(end)) {}

  // Both ends; empty ones when the kernel has no room.
  static std::pair<Channel, Channel> make();

  explicit operator bool() const { return static_cast<bool>(end_); }
  int fd() const { return end_.get(); }
  Descriptor release() { return std::move(end_); }
  void close() { end_.reset(); }

  // The descriptors stay the caller's. False: the channel is closed.
  bool send(std::string_view text, core::Duration patience, std::span<const int> descriptors = {});
  // Waits for one; nothing: none came whole in time, and the channel is closed.
  std::optional<Message> receive(core::Duration patience);
  // To a peer that may do nothing for a while, and lives: what it does not take in time is kept
  // until the next offer() or flush().
  void offer(std::string_view text, core::Duration patience);
  // Nothing is kept any more.
  bool flush(core::Duration patience);
  // As receive(), and the channel stays open.
  std::optional<Message> await(core::Duration patience);
  // It is closed because the other end is.
  bool peer_gone() const { return peer_gone_; }
  // Nothing of a next message has been read, nor one been sent in part.
  bool between_messages() const { return pending_.empty() && received_.empty() && kept_.empty(); }
  // One that has come whole by now. The channel may turn out to be closed.
  std::optional<Message> poll();

 private:
  enum class Got : std::uint8_t { something, nothing };

  Got read_some();
  std::optional<Message> take();

  Descriptor end_;
  bool peer_gone_ = false;
  std::string kept_;  // to be sent
  std::string pending_;
  std::deque<Descriptor> received_;
};

}  // namespace weir::net
