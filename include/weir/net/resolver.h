#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weir/core/time.h"
#include "weir/net/socket_address.h"

namespace weir::net {

class Loop;

struct ResolverOptions {
  // Name servers as `address:port`, comma separated; empty = those of the system.
  std::string servers;
  core::Duration timeout = std::chrono::seconds(1);  // one query to one server
  int tries = 2;                                     // rounds over all servers
  // An answer is used for its TTL, but at least this long: names in the hosts file and answers
  // with TTL 0 must not mean a query a connection.
  core::Duration ttl_floor = std::chrono::seconds(1);
};

// The addresses of one name; ports are 0. Immutable, shared between threads.
using Addresses = std::shared_ptr<const std::vector<SocketAddress>>;

// Looks names up by c-ares on the control loop, never on a data loop and never blocking. Answers
// are cached for their TTL, failures for `ttl_floor`; equal questions at the same time are asked
// once. When a question fails for a name that was known before, or is not answered within a quarter
// of a second, the last good addresses are used on: a name server that is down or silent takes no
// backend with it.
//
// Lives on the control loop. lookup() may be called on any thread; a Lookup belongs to the thread
// that asked.
class Resolver {
 public:
  // Null addresses = the name could not be resolved.
  using Answer = std::function<void(const Addresses&)>;

  // A question under way; destroying it drops the answer.
  class Lookup {
   public:
    virtual ~Lookup() = default;
  };

  Resolver(Loop& control, const ResolverOptions& options);
  ~Resolver();

  // The cached addresses, or null when the name must be looked up. Any thread.
  Addresses cached(const std::string& name, core::TimePoint now);

  // Asks, and calls `answer` on `asker`'s loop in a later turn, unless the Lookup is destroyed
  // before. `asker` outlives the resolver. Any thread.
  [[nodiscard]] std::unique_ptr<Lookup> lookup(const std::string& name, Loop& asker, Answer answer);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace weir::net
