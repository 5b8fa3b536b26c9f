#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tests/e2e/pattern.h"
#include "tests/e2e/script.h"
#include "weir/net/socket_address.h"

// Scripted clients and backends on real loopback sockets. A call does its part or throws
// ScriptFailure within patience(). Each object belongs to one thread at a time; what goes on at the
// same time is played with meanwhile(). A peer that is `frozen` is one that nothing is asked of.
namespace weir::e2e {

// A descriptor of a scripted peer: counted, so that the rest of the process's are weir's.
class PeerDescriptor {
 public:
  PeerDescriptor() = default;
  explicit PeerDescriptor(int fd);
  PeerDescriptor(PeerDescriptor&& other) noexcept;
  PeerDescriptor& operator=(PeerDescriptor&& other) noexcept;
  ~PeerDescriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

  static std::size_t open();  // of all peers of the process

 private:
  int fd_ = -1;
};

// Bytes; 0 = the system's, which grows by itself.
struct Buffers {
  int receive = 0;
  int send = 0;
};

// How a peer's stream came to its end.
enum class Ending {
  end,    // FIN: in good order
  reset,  // RST
};

// The same, or the text that was waited for.
enum class Heard { text, end, reset };

// One end of a TCP or unix connection: a client's, or a backend's accepted one. What a client sends
// with send() a backend expects with receive(), and the other way round.
class Stream {
 public:
  enum class Role { client, backend };

  static Stream connect(const net::SocketAddress& to, Buffers buffers = {}, At at = At::here());
  Stream(PeerDescriptor descriptor, Role role);

  // Gives both directions of one session patterns of their own. To be called on both of its ends.
  void set_session(std::uint64_t number);

  // Text, as it is. hear() reads exactly so many bytes and compares.
  void say(std::string_view text, At at = At::here());
  void hear(std::string_view text, At at = At::here());
  // The same, or an end with nothing before it: then false, and the end can be read again.
  bool hear_if_anything(std::string_view text, At at = At::here());
  // The same, or either ending with nothing before it.
  Heard hear_or_ending(std::string_view text, At at = At::here());

  // The next `count` bytes of the pattern.
  void send(std::uint64_t count, At at = At::here());
  void receive(std::uint64_t count, At at = At::here());
  // Sends until the kernel has taken nothing for a while; answers how much it took in all. Throws
  // after `most` bytes.
  std::uint64_t send_until_blocked(std::uint64_t most, At at = At::here());
  // Sends until the peer's reset is met, and demands that no end came before it; answers how much
  // was taken. The reset is then used up: reading meets an end.
  std::uint64_t send_until_reset(At at = At::here());
  // One byte, if the peer is still there.
  bool try_send_byte();

  // Reads the pattern to the end of the stream, and demands that end; answers how many bytes came.
  std::uint64_t receive_to_end(At at = At::here());
  std::uint64_t receive_to_reset(At at = At::here());
  // The same at the pace of a slow reader.
  std::uint64_t receive_slowly_to_end(std::size_t chunk, milliseconds pause, At at = At::here());
  // The end, with nothing before it.
  void expect_end(At at = At::here());
  void expect_reset(At at = At::here());
  // Whichever end comes, with nothing before it.
  Ending expect_ending(At at = At::here());
  // Whether the end is here already, with nothing before it.
  bool has_ended() const;
  // Neither a byte nor an end comes for so long: the script's own time.
  void expect_silence(milliseconds duration, At at = At::here());

  void shutdown_write();
  void close() { descriptor_.close(); }
  void rst();

  std::uint64_t sent() const { return outgoing_.position(); }      // of the pattern
  std::uint64_t received() const { return incoming_.position(); }  // of the pattern
  int fd() const { return descriptor_.get(); }
  PeerDescriptor release() { return std::move(descriptor_); }
  net::SocketAddress local() const { return net::SocketAddress::local(fd()); }
  // Received by this peer's kernel and not yet read.
  std::size_t unread() const;
  // Sent, and not yet acknowledged (TCP) or read (unix) by the other kernel or program.
  std::size_t unacknowledged() const;

 private:
  Ending read_pattern_to_ending(std::size_t chunk, milliseconds pause, At at);
  // Bytes read, 0 at a FIN, -1 at a reset.
  std::ptrdiff_t read_some(std::span<char> into, At at);
  void send_bytes(std::string_view bytes, At at);
  bool wait_for(short events, milliseconds time) const;

  PeerDescriptor descriptor_;
  Role role_;
  bool reset_told_ = false;  // by the kernel, which tells it once, before anything was read
  Pattern outgoing_;
  Pattern incoming_;
};

// A listening backend on a port, or path, of its own.
class Backend {
 public:
  static constexpr int kBacklog = 1024;

  // `host` is an IP address, or `unix:/path`. With `backlog` 0 see fill_queue(). Buffer sizes are
  // those of the accepted streams.
  explicit Backend(const std::string& host = "127.0.0.1", Buffers buffers = {},
                   int backlog = kBacklog);
  // At an address where another one listened before, perhaps a moment ago.
  explicit Backend(const net::SocketAddress& again);

  std::string address() const;  // as in a configuration file
  Stream accept(At at = At::here());
  // Whether a connection waits to be accepted.
  bool has_waiting() const;
  int fd() const { return descriptor_.get(); }  // the listening socket
  // Stops listening: the next dial is refused.
  void close();

  // Makes it a black hole: with a backlog of 0 one connection, the filler, occupies its queue, and
  // later dials hang. empty_queue() accepts the filler: a dial that hangs on TCP goes on when its
  // next SYN is due, a second after its first.
  void fill_queue(At at = At::here());
  void empty_queue(At at = At::here());

 private:
  PeerDescriptor descriptor_;
  PeerDescriptor filler_;
};

// An address where nobody listens, and nobody else will while this lives: dials are refused.
class DeadPort {
 public:
  DeadPort();
  std::string address() const;

 private:
  PeerDescriptor descriptor_;
};

}  // namespace weir::e2e
