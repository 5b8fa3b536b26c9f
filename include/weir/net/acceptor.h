#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "weir/net/descriptor.h"
#include "weir/net/listen_socket.h"
#include "weir/net/socket_address.h"
#include "weir/net/timer.h"

namespace weir::net {

class Loop;

// Why accept failed, other than for want of connections; the words of the metric.
enum class AcceptError : std::uint8_t { fd_limit, no_memory, aborted, other };
inline constexpr std::size_t kAcceptErrors = 4;

std::string_view name(AcceptError error);

// Accepts connections of one listening socket on one loop. At the descriptor limit it pauses and
// tries again shortly after: connections wait in the kernel's queue meanwhile, nothing spins.
// Loop thread only.
class Acceptor {
 public:
  class Owner {
   public:
    // Asked before each accept. False keeps whoever waits waiting, as at the descriptor limit:
    // on_accept_error(fd_limit) follows when somebody does.
    virtual bool may_accept() = 0;
    virtual void on_accepted(Descriptor socket, const SocketAddress& peer) = 0;
    virtual void on_accept_error(AcceptError error) = 0;
    // No further accept follows in this turn.
    virtual void on_batch_over() = 0;
    // drain() has come to its end. The owner may destroy the acceptor.
    virtual void on_drained() = 0;

   protected:
    ~Owner() = default;
  };

  Acceptor(Loop& loop, ListenSocket socket, Owner& owner);
  ~Acceptor();

  ListenSocket& socket() { return socket_; }

  // Accepts nobody until go_on(); whoever comes waits in the kernel's queue.
  void hold();
  void go_on();

  // Ends listening without a reset for what waits in the queue: lets no further handshake begin,
  // hands everything that waits to the owner, and closes when handshakes under way have had their
  // time and the queue is empty.
  void drain();

 private:
  struct Handle;

  void start();
  enum class Accept : std::uint8_t { another, empty, not_now };

  void accept_some();
  Accept accept_one();
  Accept leave_waiting();
  void pause();

  Loop& loop_;
  ListenSocket socket_;
  Owner& owner_;
  std::unique_ptr<Handle> poll_;
  Timer pause_;
  bool held_ = false;
  core::TimePoint settled_at_ = core::kNever;  // while draining: when the queue grows no more
};

}  // namespace weir::net
