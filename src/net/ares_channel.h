#pragma once

#include <ares.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weir/net/resolver.h"
#include "weir/net/timer.h"

namespace weir::net {

// c-ares driven by a libuv loop. Loop thread only.
class AresChannel {
 public:
  struct Result {
    std::vector<SocketAddress> addresses;  // empty = failed
    core::Duration ttl{0};
    std::string error;
  };

  AresChannel(Loop& loop, const ResolverOptions& options);
  ~AresChannel();  // ends what is under way: every callback is called with an error

  void ask(const std::string& name, std::function<void(Result)> answer);

 private:
  struct Poll;

  void watch(ares_socket_t socket, bool read, bool write);
  void arm_timer();

  Loop& loop_;
  ares_channel channel_ = nullptr;
  std::map<ares_socket_t, std::unique_ptr<Poll>> polls_;
  Timer timer_;
};

}  // namespace weir::net
