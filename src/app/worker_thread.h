#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <vector>

#include "weir/app/worker.h"
#include "weir/core/random.h"
#include "weir/net/wall_clock.h"
#include "weir/proxy/context.h"
#include "weir/proxy/listener.h"
#include "weir/proxy/session_table.h"
#include "weir/upstream/lone_dials.h"
#include "weir/upstream/selector.h"

namespace weir::app {

// What a worker has on its thread.
class Worker::Thread {
 public:
  Thread(Worker& worker, const Shared& shared, std::uint64_t last_session);

  void apply(Change& change);

  std::vector<proxy::SessionView> views(const proxy::SessionFilter& filter, std::size_t most);
  std::unique_ptr<proxy::SessionView> view(std::uint64_t id);
  std::size_t end_session(std::uint64_t id, core::CloseReason reason);
  std::size_t end_sessions(const upstream::Backend& backend, core::CloseReason reason);

  std::vector<Address> share();
  std::uint64_t hold();
  void go_on();
  void leave(const std::set<proxy::AddressId>& ids);
  void take_paths();
  void drain(std::function<void()> drained);
  void cut(core::CloseReason reason, bool at_once);

 private:
  // Read into by one session at a time and written straight out: large, because a bulk copy then
  // takes a third of the CPU that 16 KiB buffers take, and one, so that idle sessions own none.
  static constexpr std::size_t kScratch = 512 * 1024;

  proxy::Listener& listener(const ListenerChange& change);
  std::vector<net::ListenSocket> take_over(proxy::AddressId id);
  void retire(const std::shared_ptr<proxy::ListenerState>& state);
  void report_if_drained();

  const std::function<void(const proxy::ListenerState&)> on_listener_gone_;
  const std::function<void(proxy::AddressId)> on_address_closed_;
  core::Rng random_;
  upstream::Selector selector_;
  net::WallClock clock_;
  std::unique_ptr<std::array<char, kScratch>> scratch_;
  proxy::Context context_;
  upstream::LoneDials lone_dials_;
  proxy::SessionTable sessions_;
  std::list<std::unique_ptr<proxy::Listener>> listeners_;
  std::list<std::unique_ptr<proxy::Listener>> retiring_;  // until the next change after their end

  std::function<void()> drained_;  // set while a drain is under way and not yet reported
  std::size_t listening_ = 0;
};

}  // namespace weir::app
