#pragma once

#include <list>
#include <memory>

#include "weir/net/descriptor_budget.h"
#include "weir/net/run_queue.h"
#include "weir/upstream/client_dial.h"

namespace weir::upstream {

// Dials whose client has left and that go on for their verdict alone: where every client gives up
// sooner than `connect`, a backend that never answers would otherwise never be found out. One a
// backend at most, over all workers (BackendLease::go_alone). Each ends by an immediate reset: a
// database counts a connection that was closed in good order before the login as an error of the
// host, and in the end bans it. One table a worker; its thread only.
class LoneDials final : public net::Resumable {
 public:
  explicit LoneDials(net::Loop& loop);
  ~LoneDials() override;

  // A dial that is not connected yet: it ends as soon as it is. The pool is its client's.
  void go_on(std::unique_ptr<ClientDial> dial, std::shared_ptr<Pool> pool,
             net::DescriptorShare descriptors);
  // A connection whose backend has been asked and has not answered, until `deadline`. If it was
  // told of its client's end, an end of its own in good order decides nothing.
  void go_on(Connection connection, std::shared_ptr<Pool> pool, core::TimePoint deadline,
             bool told_of_end, net::DescriptorShare descriptors);

  // Cancels them all; none has a verdict.
  void cancel();
  // Those to one backend.
  void cancel(const Backend& backend);
  bool empty() const { return live_.empty(); }

 private:
  class Entry;
  class Connecting;
  class Awaiting;

  void retire(Entry& entry);
  void resume() override;

  net::Loop& loop_;
  std::list<std::unique_ptr<Entry>> live_;
  std::list<std::unique_ptr<Entry>> retired_;  // until nothing of them is on the stack any more
};

}  // namespace weir::upstream
