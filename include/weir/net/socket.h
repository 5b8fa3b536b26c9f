#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "weir/net/descriptor.h"
#include "weir/net/keepalive_options.h"

namespace weir::net {

class SocketSet;
class SocketWatcher;

// What one read or write came to. Nobody above needs errno: a stream goes on, waits, or has ended
// in one of two ways.
struct IoResult {
  enum class Status : std::uint8_t {
    done,     // `bytes` were moved, at least one
    blocked,  // nothing now: the watcher is told when to look again
    end,      // the peer's FIN (reads only)
    failed,   // reset, or any error that the connection does not survive
  };
  Status status = Status::blocked;
  std::size_t bytes = 0;
};

// A connected, non-blocking stream socket, TCP or unix. Owned by one thread. The destructor closes
// it: with a FIN, or with a reset where unread input is left (Linux) or abort() was asked for.
class Socket {
 public:
  Socket() = default;
  explicit Socket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }

  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  int fd() const { return descriptor_.get(); }

  // Registers with the set, once; false with errno set when the kernel has no room.
  [[nodiscard]] bool watch(SocketSet& set, SocketWatcher& watcher);
  // Hands the registration to another watcher; what is ready stays remembered.
  void set_watcher(SocketWatcher& watcher);

  // What the set has seen; only for a watched socket.
  bool readable() const;
  bool writable() const;
  bool peer_ended() const;   // FIN or failure seen, perhaps with bytes before it unread
  bool peer_failed() const;  // reset or failure seen, perhaps with bytes before it unread

  // Reads into `into`. After `blocked`, or after a short read with nothing behind it, readable()
  // is false until the kernel says otherwise.
  IoResult read(std::span<char> into);
  // What a read would come to, without taking anything. Only for a watched socket.
  IoResult::Status peek() const;
  // Writes what the kernel takes. A short count means that the rest would block.
  IoResult write(std::span<const char> from);

  void shutdown_write();
  // Makes the close a reset (RST), whatever is still unsent.
  void abort();
  void close();

  // Whether the kernel may hold back acknowledgements so that they travel with data. Off again, it
  // answers the first segments at once, as a peer with Nagle's algorithm needs.
  void hold_acknowledgements(bool hold);
  // Keepalive and user timeout; nothing on a unix socket.
  void set_keepalive(const KeepaliveOptions& options);

  // How much a write would take now, as far as the kernel's accounts tell; 0 when they do not. TCP
  // only.
  std::size_t room() const;
  // Bytes written that the peer has not acknowledged (TCP) or read (unix).
  std::size_t unacknowledged() const;
  bool is_tcp() const { return tcp_; }
  void set_tcp(bool tcp) { tcp_ = tcp; }

 private:
  Descriptor descriptor_;
  SocketSet* set_ = nullptr;
  int slot_ = -1;
  bool tcp_ = true;
};

}  // namespace weir::net
